/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --peak: when to copy what programs have. They keep their sums themselves, and tell nobody: those
 * are looked at, which costs them nothing.
 */
#ifndef LOADER_AGENT_PEAK_H
#define LOADER_AGENT_PEAK_H

#include "loader/tables/peak_copies.h"

struct agent_peak {
	struct peak_copies copies;
	int timer_fd; /* readable when it is time to look; -1: nobody asks for the peak */
	uint64_t limit;
	uint64_t highest; /* of all processes together, as far as that is known */
};

/* 0 or a negative errno. */
int agent_peak_init(struct agent_peak *ret);
void agent_peak_deinit(struct agent_peak *peak);

/*
 * Whether a copy is due: total is outstanding now, of which the most is known to have been highest;
 * at_report: whatever it costs.
 */
bool agent_peak_look(struct agent_peak *peak, uint64_t total, uint64_t highest, bool at_report);
/* Takes one over, which was begun at begin_ns. */
void agent_peak_keep(struct agent_peak *peak, struct snapshot *snap, uint64_t begin_ns);

#endif
