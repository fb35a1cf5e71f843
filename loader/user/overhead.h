/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --max-overhead: measures the cost of tracing every second, and sets the sampling step. */
#ifndef LOADER_USER_OVERHEAD_H
#define LOADER_USER_OVERHEAD_H

#include "loader/tables/sampling_steps.h"
#include "loader/user/process_set.h"

struct overhead {
	struct process_set *set;
	int timer_fd;
	struct sampling_steps steps;
	/* The present window */
	struct cost_sums begun;
	uint64_t begun_cpu_ns;
	uint64_t begun_ns;
};

/* Starts measuring if --max-overhead is given. Returns 0 or a negative errno. */
int overhead_begin(struct overhead *overhead, struct process_set *set);
void overhead_end(struct overhead *overhead);

/* Sets the step if a window has ended. */
void overhead_poll(struct overhead *overhead);

/* True if sampling cannot keep the cost below the maximum, so that tracing must end. */
bool overhead_has_failed(const struct overhead *overhead);

/* Sets the maximum and the present step in the snapshot. */
void overhead_read(const struct overhead *overhead, struct snapshot *snap);

#endif
