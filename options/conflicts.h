/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rejects options that exclude each other. Does not check the values of single options. */
#ifndef OPTIONS_CONFLICTS_H
#define OPTIONS_CONFLICTS_H

#include "options/options.h"

/*
 * True if the options do not conflict; otherwise logs why they do. `given` states for each option
 * in the table whether it is on the command line. `dashes` is true if "--" is on the command line.
 */
bool options_agree(const struct options *opts, const bool *given, bool dashes);

#endif
