/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the use of resident memory to the snapshots of a run that traces one or a few processes.
 * Processes are read one after another, in rounds, and all results of a round are added to the same
 * snapshot. This may be a later snapshot than the one at which the round began, because reading a
 * large heap takes seconds.
 */
#ifndef APP_RSS_WATCH_H
#define APP_RSS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/source.h"
#include "report/python_growth.h"
#include "report/snapshot.h"

/* Result for one process (one exec image) in the current round. */
struct rss_result {
	uint32_t image;
	bool is_done;
	bool is_given_up; /* true if a reading took too long, so the process is never read again */
	struct rss rss;   /* all 0 if not known */
};

/*
 * State of the readings. The caller sets `from_start` and `prover`; all other fields must be
 * zero-initialised.
 */
struct rss_watch {
	/* true if the command is traced from its start, so no block is older than tracing */
	bool from_start;
	/* prover whose copies of processes can be read, or NULL */
	const struct prover *prover;
	pid_t asked; /* pid of the process being read; 0 if none */
	uint32_t asked_image;
	bool asked_copy; /* true if a copy made by the prover is being read */
	/* true if no more copies are read, because one ended before its reading was finished */
	bool avoids_copies;
	uint64_t asked_ns; /* time at which the reading began (CLOCK_MONOTONIC) */
	uint64_t seen_ns;  /* time at which memleak last waited for the result */
	/*
	 * Earliest start of the next round. The pauses between rounds limit readings to a twentieth
	 * of a core.
	 */
	uint64_t next_ns;
	bool is_in_round;  /* true if a round has begun, and processes may remain to be read */
	bool is_last;      /* true if no snapshot follows the current one */
	bool has_failed;   /* true if a reading of this round has failed */
	uint64_t spent_ns; /* total duration of the readings of this round */
	/* results of this round, one for each living process */
	struct rss_result results[RSS_PROCESSES_MAX];
	size_t result_cnt;
	/*
	 * ids of the sites of the snapshot at which the reading began; NULL if it did not list
	 * blocks
	 */
	uint64_t *site_ids;
	size_t site_cnt;
	/* The sites that pin the most free memory according to the latest reading. */
	struct {
		uint64_t id;
		uint64_t bytes;
	} pinners[RSS_PINNERS_MAX];
	size_t pinner_cnt;
	/* growth of Python's objects according to the latest reading */
	struct python_growth python;
	uint32_t python_image; /* exec image of the process of the latest reading */
};

void rss_watch_deinit(struct rss_watch *watch);

/*
 * True if a round of readings is due. is_last: no snapshot follows, so a round is due even during
 * the pause.
 */
bool rss_watch_is_due(const struct rss_watch *watch, bool is_last);

/* Ends the pause between rounds of readings. */
void rss_watch_hurry(struct rss_watch *watch);

/*
 * Starts a round of readings if one is due, or reads the next process of the current round. Does
 * nothing while a reading is going on, or if more than RSS_PROCESSES_MAX processes are alive.
 * is_last: no snapshot follows. has_blocks: the snapshot lists all blocks that a single process has
 * allocated since tracing began, so that blocks from before can be recognised.
 */
void rss_watch_begin(struct rss_watch *watch, const struct snapshot *snap, bool is_last,
		     bool has_blocks);

/* Makes the source find out which script lines add items to the growing Python containers. */
void rss_watch_find_adders(struct rss_watch *watch, struct source *source);

/*
 * Waits for the current reading, and reads the remaining processes of the round, for at most
 * wait_ns. When the round is complete, adds its results to `snap` and its sites; if no snapshot
 * follows, the results that have arrived by then. `snap` must be the snapshot passed to the latest
 * rss_watch_begin(). If asked_copy is set, must be called before prover_finish(), which ends the
 * copy. Returns the time taken in nanoseconds.
 */
uint64_t rss_watch_finish(struct rss_watch *watch, struct snapshot *snap, uint64_t wait_ns);

#endif
