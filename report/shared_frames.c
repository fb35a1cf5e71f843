// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts sites by process, then by their innermost frames. */
#include "report/shared_frames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"

int shared_frames_compare(const struct site *a, const struct site *b, size_t frame_cnt)
{
	int diff = ORDER((uintptr_t)a->process, (uintptr_t)b->process);

	for (size_t i = 0; !diff && i < frame_cnt; i++) {
		if (i == a->frame_cnt || i == b->frame_cnt)
			return ORDER(a->frame_cnt > i, b->frame_cnt > i);
		diff = ORDER(a->frames[i], b->frames[i]);
	}
	return diff;
}

static int by_frames(const void *left, const void *right)
{
	const struct candidate *a = *(const struct candidate *const *)left;
	const struct candidate *b = *(const struct candidate *const *)right;

	return shared_frames_compare(a->site, b->site, SHARED_FRAMES);
}

int shared_frames_sort(const struct candidate *sites, size_t cnt, size_t *ret_cnt,
		       const struct candidate ***ret)
{
	const struct candidate **sorted = calloc(cnt + 1, sizeof(*sorted));
	size_t sorted_cnt = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (sites[i].site->space == SPACE_USER && sites[i].site->frame_cnt > 1)
			sorted[sorted_cnt++] = &sites[i];
	qsort(sorted, sorted_cnt, sizeof(*sorted), by_frames);
	*ret_cnt = sorted_cnt;
	*ret = sorted;
	return 0;
}

size_t shared_frames_end(const struct candidate *const *sites, size_t first, size_t cnt,
			 size_t frame_cnt)
{
	size_t end = first + 1;

	while (end < cnt && !shared_frames_compare(sites[first]->site, sites[end]->site, frame_cnt))
		end++;
	return end;
}
