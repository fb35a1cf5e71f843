/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the use of resident memory to the snapshots of a run that traces a single process. Reading a
 * large heap takes seconds, so the result may be added to a later snapshot.
 */
#ifndef APP_RSS_WATCH_H
#define APP_RSS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/snapshot.h"

/* State of the readings; must be zero-initialised. */
struct rss_watch {
	pid_t asked;       /* pid of the process being read; 0 if there is none */
	uint64_t asked_ns; /* start of the reading, by CLOCK_MONOTONIC */
	/*
	 * Earliest start of the next reading, so that readings use at most a twentieth of a core.
	 */
	uint64_t next_ns;
};

/*
 * Adds the result of a reading if it is ready, and starts a reading if it is time. If is_last is
 * set, no snapshot follows, so waits longer for the result.
 */
void rss_watch_read(struct rss_watch *watch, struct snapshot *snap, bool is_last);

#endif
