/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording on the screen: any of its moments, as keys want it. */
#ifndef APP_SCRUB_H
#define APP_SCRUB_H

#include "app/replay.h"
#include "options/options.h"

/* Until somebody leaves it. 0 or a negative errno; has said what failed. */
int scrub(const struct options *opts, struct replay *replay);

#endif
