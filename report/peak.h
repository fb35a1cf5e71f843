/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The peak: the memory that was outstanding when most memory was outstanding. Leaves out reserved
 * address space and the stacks of threads. Plain data.
 */
#ifndef REPORT_PEAK_H
#define REPORT_PEAK_H

#include "report/snapshot.h"

struct peak {
	int64_t wall_ns;
	uint64_t t0_ns;
	uint64_t bytes;
	uint64_t count;
	/* Highest number of outstanding bytes, perhaps reached shortly before or after t0_ns. */
	uint64_t highest_bytes;
	struct site *sites; /* sites of the peak; their ages are not set */
	size_t site_cnt;
	/* Memory of the data that `sites` points to; empty if the data is in a snapshot's arena. */
	struct arena arena;
};

/*
 * Makes a peak from a snapshot that owns its data. Moves the data to the peak, which leaves the
 * snapshot empty.
 */
struct peak peak_from(struct snapshot *snap);
void peak_deinit(struct peak *peak);

#endif
