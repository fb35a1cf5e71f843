/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident memory of the processes of a snapshot. */
#ifndef REPORT_PROCESSES_RSS_H
#define REPORT_PROCESSES_RSS_H

#include "report/rss.h"
#include "report/snapshot.h"

struct process_rss {
	const struct process *process;
	const struct rss *rss;
	const struct rss *first; /* first known values; NULL if `rss` is the first */
};

struct processes_rss {
	size_t living; /* number of living processes */
	/* The processes whose memory is known, the largest first; none if there is only one. */
	struct process_rss items[RSS_PROCESSES_MAX];
	size_t cnt;
};

/* `pasts` may be NULL. */
struct processes_rss processes_rss_of(const struct snapshot *snap, const struct rss_pasts *pasts);

/*
 * Returns the sum of the parts over the processes, by the latest reading of each: memory is not
 * read for each report. All other fields are 0.
 */
struct rss processes_rss_latest(const struct snapshot *snap, const struct rss_pasts *pasts);

/* Returns the first values of an image; NULL if none are earlier than the present ones. */
const struct rss *processes_rss_first(const struct rss_pasts *pasts, const struct process *process);

/*
 * Returns the sum over the processes. Sets *ret_first to the sum of their first values; if a
 * process has none, its present values count. Sets *ret_has_first to false if no process has first
 * values.
 */
struct rss processes_rss_sum(const struct processes_rss *all, struct rss *ret_first,
			     bool *ret_has_first);

#endif
