/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts sites by their innermost frames, so that sites with common frames are adjacent. */
#ifndef REPORT_SHARED_FRAMES_H
#define REPORT_SHARED_FRAMES_H

#include "report/site_order.h"

/* Number of innermost frames by which sites are sorted. */
#define SHARED_FRAMES 5

/* Compares processes and the frame_cnt innermost frames; a stack that ends earlier comes first. */
int shared_frames_compare(const struct site *a, const struct site *b, size_t frame_cnt);

/*
 * Sorts pointers to the user-space sites that have at least two frames. *ret is to be freed.
 * Returns 0 or -ENOMEM.
 */
int shared_frames_sort(const struct candidate *sites, size_t cnt, size_t *ret_cnt,
		       const struct candidate ***ret);

/* Returns the end of the run of sorted sites that share frame_cnt frames with sites[first]. */
size_t shared_frames_end(const struct candidate *const *sites, size_t first, size_t cnt,
			 size_t frame_cnt);

#endif
