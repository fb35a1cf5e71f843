/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the mappings of a process, and finds the file or kind of memory of most new mappings. */
#ifndef LOADER_TARGET_MAPPING_COUNTS_H
#define LOADER_TARGET_MAPPING_COUNTS_H

#include "base/hash_map.h"
#include "base/proc_maps.h"
#include "report/snapshot.h"

/* Maximum number of processes whose mappings are counted. */
#define MAPPING_COUNTS_MAX 8

/* State of the counts of one process image. Must be zero-initialised. */
struct mapping_counts {
	/*
	 * First counts of the mappings. Key: hash of a name, as in `footprint.mapped`. Value: the
	 * number of these mappings, stored as a pointer.
	 */
	struct hash_map first;
	size_t first_cnt; /* number of mappings in `first`; 0 before the first count */
	size_t cnt;       /* latest number of mappings */
	uint64_t next_ns; /* earliest time of the next reading */
	char mapped[FOOTPRINT_NAME_BYTES];
};

void mapping_counts_deinit(struct mapping_counts *counts);

/*
 * Counts mappings, and sets `mapped` if one name has more than half of the mappings that were added
 * since the first call.
 */
void mapping_counts_take(struct mapping_counts *counts, const struct proc_maps *maps);

/*
 * Reads the mappings of a process if this is due, and sets FOOTPRINT_MAPPINGS and the limits of the
 * footprint. The pause between two readings limits them to one or two hundredths of a core.
 */
void mapping_counts_read(struct mapping_counts *counts, pid_t pid, struct footprint *ret);

#endif
