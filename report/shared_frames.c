// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts sites by process, then by their innermost frames. */
#include "report/shared_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
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

/*
 * The fields of a site that decide its order. They are copied, because comparing the sites
 * themselves would miss the CPU's caches.
 */
struct sort_key {
	const struct candidate *candidate;
	uintptr_t process;
	size_t frame_cnt;
	uint64_t frames[SHARED_FRAMES]; /* 0 after the end of the stack */
};

static struct sort_key key_of(const struct candidate *candidate)
{
	const struct site *site = candidate->site;
	struct sort_key ret = {
		.candidate = candidate,
		.process = (uintptr_t)site->process,
		.frame_cnt = site->frame_cnt < SHARED_FRAMES ? site->frame_cnt : SHARED_FRAMES,
	};

	memcpy(ret.frames, site->frames, ret.frame_cnt * sizeof(*ret.frames));
	return ret;
}

/* Compares like shared_frames_compare(). */
static int by_frames(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	int diff = ORDER(a->process, b->process);

	for (size_t i = 0; !diff && i < SHARED_FRAMES; i++)
		diff = ORDER(a->frames[i], b->frames[i]);
	return diff ?: ORDER(a->frame_cnt, b->frame_cnt);
}

int shared_frames_sort(const struct candidate *sites, size_t cnt, size_t *ret_cnt,
		       const struct candidate ***ret)
{
	const struct candidate **sorted = calloc(cnt + 1, sizeof(*sorted));
	cleanup_free struct sort_key *keys = calloc(cnt + 1, sizeof(*keys));
	size_t sorted_cnt = 0;

	if (!sorted || !keys) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cnt; i++)
		if (sites[i].site->space == SPACE_USER && sites[i].site->frame_cnt > 1)
			keys[sorted_cnt++] = key_of(&sites[i]);
	qsort(keys, sorted_cnt, sizeof(*keys), by_frames);
	for (size_t i = 0; i < sorted_cnt; i++)
		sorted[i] = keys[i].candidate;
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
