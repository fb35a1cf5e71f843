/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts argv to struct options. */
#ifndef OPTIONS_PARSE_H
#define OPTIONS_PARSE_H

#include "options/options.h"

enum options_result { OPTIONS_RUN, OPTIONS_EXIT_OK, OPTIONS_EXIT_USAGE, OPTIONS_EXIT_FAILED };

/*
 * Parses argv. Returns OPTIONS_EXIT_OK if --help or --version was printed, OPTIONS_EXIT_USAGE if a
 * usage error was logged, or OPTIONS_EXIT_FAILED if printing failed, which is logged, too. ret
 * needs options_deinit() in every case.
 */
enum options_result options_parse(int argc, char **argv, struct options *ret);

#endif
