/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --peak: copies of what is outstanding, and when the next one is to be taken: each time that there
 * is a share more than there was at most.
 */
#ifndef LOADER_TABLES_PEAK_COPIES_H
#define LOADER_TABLES_PEAK_COPIES_H

#include "report/peak.h"

struct peak_copies {
	struct peak kept; /* the one that has most */
	uint64_t not_before_ns;
};

/*
 * Takes over a copy, which owns what it holds and was begun at begin_ns. highest: the most that was
 * outstanding so far. Returns with how many bytes another is due.
 */
uint64_t peak_copies_keep(struct peak_copies *copies, struct snapshot *snap, uint64_t begin_ns,
			  uint64_t highest);

#endif
