/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was outstanding at an earlier moment, cut off from the source: it outlives the processes
 * and stacks that it was read from. Address space that is only reserved, and the stacks of
 * threads, are left out. Plain data.
 */
#ifndef PEAK_H
#define PEAK_H

#include "report/snapshot.h"

struct peak {
	int64_t wall_ns;
	uint64_t t0_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t highest_bytes; /* at any moment; what is above bytes was there before or after */
	struct site *sites;     /* without ages */
	size_t site_cnt;
	struct process *processes;
	size_t process_cnt;
	uint64_t *frame_store;
};

int peak_copy(const struct snapshot *snap, struct peak *ret);
void peak_deinit(struct peak *peak);

#endif
