/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resident memory of the processes of a snapshot. */
#ifndef REPORT_PROCESSES_RSS_H
#define REPORT_PROCESSES_RSS_H

#include "report/rss.h"
#include "report/snapshot.h"

struct process_rss {
	const struct process *process;
	const struct rss *rss;
	const struct rss *first; /* first known resident memory; NULL if `rss` is the first known */
};

struct processes_rss {
	size_t living; /* number of living processes */
	/*
	 * The processes whose memory is known, the largest first; none if fewer than two processes
	 * are living.
	 */
	struct process_rss items[RSS_PROCESSES_MAX];
	size_t cnt;
};

/* Lists the resident memory of the living processes. `pasts` may be NULL. */
struct processes_rss processes_rss_of(const struct snapshot *snap, const struct rss_pasts *pasts);

/*
 * Returns the sum over the living processes: see rss_join(). Memory is not read for each report, so
 * the latest reading of each process counts. `pasts` may be NULL.
 */
struct rss processes_rss_latest(const struct snapshot *snap, const struct rss_pasts *pasts);

/*
 * Returns the first known values of a process; NULL if there are none from before the present
 * report. `pasts` may be NULL.
 */
const struct rss *processes_rss_first(const struct rss_pasts *pasts, const struct process *process);

/* As processes_rss_first(), for the only living process; NULL if there are several. */
const struct rss *processes_rss_only_first(const struct snapshot *snap,
					   const struct rss_pasts *pasts);

/*
 * Returns the sum of the present values over the listed processes. Sets *ret_first to the sum of
 * their first values; for a process without first values, its present values count. Sets
 * *ret_has_first to false if no process has first values.
 */
struct rss processes_rss_sum(const struct processes_rss *all, struct rss *ret_first,
			     bool *ret_has_first);

#endif
