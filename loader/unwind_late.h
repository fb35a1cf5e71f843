/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Late stacks (struct memleak_stack): those that went through code which the programs did not know
 * yet, as of a library that was loaded just now. Once it is known, libdwfl walks the copy that came
 * along, and what it finds takes the place of what the programs found.
 */
#ifndef UNWIND_LATE_H
#define UNWIND_LATE_H

#include "loader/reference_spaces.h"
#include "loader/tracker.h"
#include "loader/unwind_maps.h"

struct unwind_late {
	struct tracker *tracker;
	const struct unwind_maps *maps;
	struct reference_spaces *reference;
	volatile struct memleak_late_watch *watch; /* in the programs' memory */
	struct late_stack **waiting;
	size_t waiting_cnt;
	size_t waiting_bytes;
	size_t file_cnt; /* with tables, as last seen */
	uint64_t taken;
	uint64_t finished; /* by libdwfl */
	uint64_t cut;      /* that nobody could finish */
};

/* The fields above waiting are set: the programs may send some. */
void unwind_late_start(struct unwind_late *late);
/* Some more, if those that came were useless; for each report. */
void unwind_late_go_on(struct unwind_late *late);
void unwind_late_deinit(struct unwind_late *late);

/* A copy of a late stack has come, of that length. */
void unwind_late_take(struct unwind_late *late, const struct memleak_stack_copy *copy, size_t len);

bool unwind_late_is_waiting(const struct unwind_late *late, uint32_t image);

/* The process, which runs image, was read again since: finishes some of what waits for that. */
void unwind_late_finish(struct unwind_late *late, const struct reference_subject *subject,
			uint32_t image, size_t most);

/* Drops what waits and is of no image that is known. */
void unwind_late_drop(struct unwind_late *late, bool (*is_known)(void *arg, uint32_t image),
		      void *arg);

#endif
