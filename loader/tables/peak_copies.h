/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps a snapshot of the peak for --peak: of all copies of the outstanding blocks, the one with
 * the most bytes. The next copy is due when the peak has grown by a certain share.
 */
#ifndef LOADER_TABLES_PEAK_COPIES_H
#define LOADER_TABLES_PEAK_COPIES_H

#include "report/peak.h"

struct peak_copies {
	struct peak kept; /* copy with the most bytes */
	uint64_t not_before_ns;
};

/*
 * Takes ownership of a copy, which was begun at begin_ns. highest is the largest number of
 * outstanding bytes since tracing began. Returns the number of outstanding bytes at which the next
 * copy is due.
 */
uint64_t peak_copies_keep(struct peak_copies *copies, struct snapshot *snap, uint64_t begin_ns,
			  uint64_t highest);

#endif
