/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which options do not go together, and why. Knows no single option's values. */
#ifndef OPTIONS_CONFLICTS_H
#define OPTIONS_CONFLICTS_H

#include "options/options.h"

/*
 * Whether all that was given goes together; if not, a line on stderr has said why. given: for each
 * option of the table whether it is on the command line; dashes: whether "--" is.
 */
bool options_agree(const struct options *opts, const bool *given, bool dashes);

#endif
