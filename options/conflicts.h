/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rejects options that exclude each other. Does not know the values of single options. */
#ifndef OPTIONS_CONFLICTS_H
#define OPTIONS_CONFLICTS_H

#include "options/options.h"

/*
 * True if the options do not conflict; otherwise logs why. given: for each option of the table,
 * true if it is on the command line; dashes: true if "--" is.
 */
bool options_agree(const struct options *opts, const bool *given, bool dashes);

#endif
