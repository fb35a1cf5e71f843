/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts sites by their innermost frames, so that sites with the same innermost frames are adjacent.
 */
#ifndef REPORT_SHARED_FRAMES_H
#define REPORT_SHARED_FRAMES_H

#include "report/site_order.h"

/* Number of innermost frames that are compared. */
#define SHARED_FRAMES 5

/*
 * Compares the processes of two sites, then their frame_cnt innermost frames. The shorter stack
 * comes first if it is equal to the beginning of the other stack.
 */
int shared_frames_compare(const struct site *a, const struct site *b, size_t frame_cnt);

/*
 * Sorts pointers to those user-space sites that have at least two frames. *ret is to be freed.
 * Returns 0 or -ENOMEM.
 */
int shared_frames_sort(const struct candidate *sites, size_t cnt, size_t *ret_cnt,
		       const struct candidate ***ret);

/*
 * Returns the end of a run of sorted sites that share their frame_cnt innermost frames. The run
 * begins with sites[first]; its end is the index after its last site.
 */
size_t shared_frames_end(const struct candidate *const *sites, size_t first, size_t cnt,
			 size_t frame_cnt);

#endif
