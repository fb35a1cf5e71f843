/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory outstanding at an earlier moment, without reserved address space and the stacks of
 * threads. Plain data.
 */
#ifndef REPORT_PEAK_H
#define REPORT_PEAK_H

#include "report/snapshot.h"

struct peak {
	int64_t wall_ns;
	uint64_t t0_ns;
	uint64_t bytes;
	uint64_t count;
	uint64_t highest_bytes; /* maximum at any moment, perhaps shortly before or after t0_ns */
	struct site *sites;     /* sites of the peak, without ages */
	size_t site_cnt;
	struct arena arena; /* holds what the sites point to; empty if a snapshot's arena does */
};

/* Makes a peak from a snapshot that owns its data, and leaves the snapshot empty. */
struct peak peak_from(struct snapshot *snap);
void peak_deinit(struct peak *peak);

#endif
