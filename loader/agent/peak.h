/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --peak: decides when to list the outstanding blocks of the programs. Each program maintains the
 * sum of the bytes of its blocks. memleak polls the sums, which does not slow the programs.
 */
#ifndef LOADER_AGENT_PEAK_H
#define LOADER_AGENT_PEAK_H

#include "loader/tables/peak_copies.h"

struct agent_peak {
	struct peak_copies copies;
	int timer_fd; /* readable when it is time to poll the sums; -1 without --peak */
	uint64_t limit;
	uint64_t highest; /* highest known total of outstanding bytes */
};

/* Creates the timer. Returns 0 or a negative errno. */
int agent_peak_init(struct agent_peak *ret);
void agent_peak_deinit(struct agent_peak *peak);

/*
 * True if a new list of blocks is due. total: outstanding bytes of all processes. highest: the most
 * bytes that any one process has ever had outstanding. at_report: a report follows, so a new list
 * is due whenever `total` exceeds the total of the list that is kept.
 */
bool agent_peak_look(struct agent_peak *peak, uint64_t total, uint64_t highest, bool at_report);
/* Takes ownership of `snap`, a list of the blocks that was begun at begin_ns. */
void agent_peak_keep(struct agent_peak *peak, struct snapshot *snap, uint64_t begin_ns);

#endif
