/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds to the snapshots of a run what the resident memory of its process is used for, if there is
 * one process. Reading a large heap takes seconds: the answer then comes with a later snapshot.
 */
#ifndef APP_RSS_WATCH_H
#define APP_RSS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/snapshot.h"

/* Zero is a valid beginning. */
struct rss_watch {
	pid_t asked;       /* process that is being read; 0 if none is */
	uint64_t asked_ns; /* when, by CLOCK_MONOTONIC */
	uint64_t next_ns;  /* not before: reading takes a twentieth of a core at most */
};

/* is_last: no snapshot follows, so the answer is waited for longer. */
void rss_watch_read(struct rss_watch *watch, struct snapshot *snap, bool is_last);

#endif
