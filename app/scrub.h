/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows a recording on the screen (memleak top FILE). Keys select which report is shown. */
#ifndef APP_SCRUB_H
#define APP_SCRUB_H

#include "app/replay.h"
#include "options/options.h"

/* Runs until the user leaves the screen. Returns 0 or a negative errno; logs errors. */
int scrub(const struct options *opts, struct replay *replay);

#endif
