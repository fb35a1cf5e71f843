/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --peak: what was outstanding when it was most. */
#ifndef LOADER_USER_PEAK_H
#define LOADER_USER_PEAK_H

#include "loader/tables/peak_copies.h"
#include "loader/user/process_set.h"

struct user_peak {
	struct process_set *set;
	struct peak_copies copies;
	uint64_t mapped; /* in the programs' total, as is what was taken off it again */
	uint64_t purged;
};

/* Takes a copy when it is time to. 0 or a negative errno. */
int user_peak_watch(struct user_peak *peak);
/* Before a report: takes one if there is more than ever. 0 or a negative errno. */
int user_peak_report(struct user_peak *peak);

#endif
