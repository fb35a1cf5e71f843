/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was outstanding at an earlier moment. Address space that is only reserved, and the stacks of
 * threads, are left out. Plain data.
 */
#ifndef REPORT_PEAK_H
#define REPORT_PEAK_H

#include "report/snapshot.h"

struct peak {
	int64_t wall_ns;
	uint64_t t0_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t highest_bytes; /* at any moment; what is above bytes was there before or after */
	struct site *sites;     /* without ages */
	size_t site_cnt;
	struct arena arena; /* what the sites point to; empty if the snapshot's has it */
};

/* Takes the snapshot over, which must own what it holds; it is left empty. */
struct peak peak_from(struct snapshot *snap);
void peak_deinit(struct peak *peak);

#endif
