/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From argv to struct options. */
#ifndef OPTIONS_PARSE_H
#define OPTIONS_PARSE_H

#include "options/options.h"

enum options_result { OPTIONS_RUN, OPTIONS_EXIT_OK, OPTIONS_EXIT_USAGE, OPTIONS_EXIT_FAILED };

/*
 * Parses argv. OPTIONS_EXIT_OK: --help or --version was printed to stdout; OPTIONS_EXIT_USAGE:
 * one line on stderr said what is wrong; OPTIONS_EXIT_FAILED: so it did, but what failed was
 * printing. ret needs options_deinit in every case.
 */
enum options_result options_parse(int argc, char **argv, struct options *ret);

#endif
