/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --peak: keeps a copy of the outstanding blocks from the time when the most bytes were
 * outstanding.
 */
#ifndef LOADER_USER_PEAK_H
#define LOADER_USER_PEAK_H

#include "loader/tables/peak_copies.h"
#include "loader/user/process_set.h"

struct user_peak {
	struct process_set *set;
	struct peak_copies copies;
	uint64_t mapped; /* bytes of mappings in the BPF programs' total of outstanding bytes */
	/* bytes of purged blocks that were subtracted from the BPF programs' total */
	uint64_t purged;
};

/* Copies the outstanding blocks if a copy is due. Returns 0 or a negative errno. */
int user_peak_watch(struct user_peak *peak);
/*
 * Called before a report. Takes a copy if more bytes are outstanding now than in the largest copy
 * so far. Returns 0 or a negative errno.
 */
int user_peak_report(struct user_peak *peak);

#endif
