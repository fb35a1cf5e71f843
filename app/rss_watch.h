/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adds the use of resident memory to the snapshots of a run that traces one or a few processes.
 * Reading a large heap takes seconds, so the results may be added to a later snapshot. Processes
 * are read one after another, in rounds; the results of a round are added to the same snapshot.
 */
#ifndef APP_RSS_WATCH_H
#define APP_RSS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "loader/source.h"
#include "report/python_growth.h"
#include "report/snapshot.h"

/* Result for one process image in the present round. */
struct rss_result {
	uint32_t image;
	bool is_done;
	bool is_given_up; /* reading took too long once, so the image is not read again */
	struct rss rss;   /* all 0 if not known */
};

/* State of the readings; zero-initialise all fields but the first two. */
struct rss_watch {
	/* the process is traced from its start, so no block is older than tracing */
	bool from_start;
	const struct prover *prover; /* has copies of processes; NULL if there are none */
	pid_t asked;                 /* pid of the process being read; 0 if there is none */
	uint32_t asked_image;
	bool asked_copy;    /* the copy that the prover has made is read */
	bool avoids_copies; /* a copy ended before it was read */
	uint64_t asked_ns;  /* start of the reading, by CLOCK_MONOTONIC */
	uint64_t seen_ns;   /* end of the most recent wait for the result */
	/* Earliest start of the next round. Pauses keep readings below a twentieth of a core. */
	uint64_t next_ns;
	bool is_in_round;  /* some processes may not have been read yet in this round */
	bool is_last;      /* no snapshot follows the present one */
	bool has_failed;   /* an error occurred in this round */
	uint64_t spent_ns; /* sum of the durations of readings in this round */
	struct rss_result results[RSS_PROCESSES_MAX]; /* one for each living process */
	size_t result_cnt;
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
 * True if a round of readings is due. If is_last is set, no snapshot follows, so a round is due
 * without a pause.
 */
bool rss_watch_is_due(const struct rss_watch *watch, bool is_last);

/*
 * Starts a round of readings if one is due, unless more than RSS_PROCESSES_MAX processes are
 * living. has_blocks: the snapshot lists all blocks that a single process has allocated since
 * tracing began, so that older blocks can be recognised.
 */
void rss_watch_begin(struct rss_watch *watch, const struct snapshot *snap, bool is_last,
		     bool has_blocks);

/* Lets the source find out which lines of a script add items to the growing containers. */
void rss_watch_find_adders(struct rss_watch *watch, struct source *source);

/*
 * Reads the remaining processes. When the round is complete, adds its results to snap and to its
 * sites; for the last snapshot, adds the results that are known by then. snap must be the snapshot
 * that was passed to the most recent rss_watch_begin(). If asked_copy is set, call it before
 * prover_finish(), which ends the copy. Takes at most wait_ns. Returns the time taken.
 */
uint64_t rss_watch_finish(struct rss_watch *watch, struct snapshot *snap, uint64_t wait_ns);

#endif
