/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts argv to struct options. */
#ifndef OPTIONS_PARSE_H
#define OPTIONS_PARSE_H

#include "options/options.h"

enum options_result { OPTIONS_RUN, OPTIONS_EXIT_OK, OPTIONS_EXIT_USAGE, OPTIONS_EXIT_FAILED };

/*
 * Parses argv. Returns OPTIONS_EXIT_OK if the help or the version was printed. Logs the error and
 * returns OPTIONS_EXIT_FAILED if printing fails or memory runs out, OPTIONS_EXIT_USAGE if the usage
 * is wrong. Otherwise returns OPTIONS_RUN. In every case, options_deinit() must be called for *ret.
 */
enum options_result options_parse(int argc, char **argv, struct options *ret);

#endif
