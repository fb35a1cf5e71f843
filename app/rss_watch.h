/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the use of resident memory to the snapshots of a run that traces a single process. Reading a
 * large heap takes seconds: the result is then added to a later snapshot.
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
	uint64_t next_ns; /* earliest start of the next reading: readings use at most a twentieth of
			     a core */
};

/*
 * Adds the result of a reading if it is ready, and starts a reading if one is due. If is_last is
 * set, waits longer for the result, as no snapshot follows.
 */
void rss_watch_read(struct rss_watch *watch, struct snapshot *snap, bool is_last);

#endif
