/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the use of resident memory to the snapshots of a run that traces a single process. Reading a
 * large heap takes seconds, so the result may be added to a later snapshot.
 */
#ifndef APP_RSS_WATCH_H
#define APP_RSS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "report/python_growth.h"
#include "report/snapshot.h"

/* State of the readings; zero-initialise all fields but the first. */
struct rss_watch {
	/* the process is traced from its start, so no block is older than tracing */
	bool from_start;
	pid_t asked; /* pid of the process being read; 0 if there is none */
	uint32_t asked_image;
	uint64_t asked_ns; /* start of the reading, by CLOCK_MONOTONIC */
	uint64_t seen_ns;  /* end of the most recent wait for the result */
	/* Earliest start of the next reading. Pauses keep readings below a twentieth of a core. */
	uint64_t next_ns;
	/*
	 * ids of the sites of the snapshot for which the reading began; NULL if that snapshot does
	 * not list blocks
	 */
	uint64_t *site_ids;
	size_t site_cnt;
	/* The sites that pinned the most memory in the latest reading. */
	struct {
		uint64_t id;
		uint64_t bytes;
	} pinners[RSS_PINNERS_MAX];
	size_t pinner_cnt;
	struct python_growth python; /* result of the latest reading */
	uint32_t python_image;       /* process image of the latest reading */
};

void rss_watch_deinit(struct rss_watch *watch);

/*
 * True if a reading is due. If is_last is set, no snapshot follows, so a reading is due without a
 * pause.
 */
bool rss_watch_is_due(const struct rss_watch *watch, bool is_last);

/*
 * Starts a reading of resident memory if one is due. has_blocks: the snapshot lists all blocks that
 * were allocated since tracing began, so that older blocks can be recognised.
 */
void rss_watch_begin(struct rss_watch *watch, const struct snapshot *snap, bool is_last,
		     bool has_blocks);

/*
 * Adds the result to snap and to its sites. snap must be the snapshot that was passed to the most
 * recent rss_watch_begin(). Waits for the result for at most wait_ns. Returns the time waited.
 */
uint64_t rss_watch_finish(struct rss_watch *watch, struct snapshot *snap, uint64_t wait_ns);

#endif
