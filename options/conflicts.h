/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rejects options that exclude each other or need each other. Does not check the values of single
 * options.
 */
#ifndef OPTIONS_CONFLICTS_H
#define OPTIONS_CONFLICTS_H

#include "options/options.h"

/*
 * True if the options can be used together; otherwise logs why they cannot. `given` tells for each
 * option of option_table, and `dashes` for "--", whether it is on the command line.
 */
bool options_agree(const struct options *opts, const bool *given, bool dashes);

/*
 * Returns a bit for each enum advised_option that conflicts with the options of a tracing command,
 * or would have no effect. The options must agree.
 */
unsigned int options_refused(const struct options *opts, const bool *given);

#endif
