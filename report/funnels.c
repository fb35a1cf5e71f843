// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts stacks by their innermost frames, and counts what comes together in each. */
#include "report/funnels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/order.h"

/* A constructor is called from a few places, and for one size. */
#define LEAST_CALLERS 8
#define LEAST_SIZES 4

/* Wrappers within wrappers are no deeper. */
#define MOST_FRAMES 3

/* Those that have cnt frames in common are equal; a stack comes before those that go on. */
static int compare_frames(const struct site *a, const struct site *b, size_t cnt)
{
	int diff = ORDER((uintptr_t)a->process, (uintptr_t)b->process);

	for (size_t i = 0; !diff && i < cnt; i++) {
		if (i == a->frame_cnt || i == b->frame_cnt)
			return ORDER(a->frame_cnt > i, b->frame_cnt > i);
		diff = ORDER(a->frames[i], b->frames[i]);
	}
	return diff;
}

static int by_frames(const void *left, const void *right)
{
	const struct site *a = *(const struct site *const *)left;
	const struct site *b = *(const struct site *const *)right;

	return compare_frames(a, b, MOST_FRAMES + 1);
}

static uint64_t size_of(const struct site *site)
{
	return site->count ? site->bytes / site->count : 0;
}

/* Adds size to those that are known, of which there may be LEAST_SIZES. */
static void add_size(uint64_t *sizes, size_t *cnt, uint64_t size)
{
	for (size_t i = 0; i < *cnt; i++)
		if (sizes[i] == size)
			return;
	if (*cnt < LEAST_SIZES)
		sizes[(*cnt)++] = size;
}

/* Sites that have frame_cnt frames in common, in order of the next one. */
static bool is_funnel(const struct site *const *sites, size_t cnt, size_t frame_cnt)
{
	uint64_t sizes[LEAST_SIZES];
	size_t size_cnt = 0, callers = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (sites[i]->frame_cnt <= frame_cnt)
			continue;
		callers += !i || compare_frames(sites[i - 1], sites[i], frame_cnt + 1) != 0;
		add_size(sizes, &size_cnt, size_of(sites[i]));
	}
	return callers >= LEAST_CALLERS && size_cnt >= LEAST_SIZES;
}

static int find(const struct site *const *sites, size_t cnt, size_t frame_cnt,
		struct funnels *funnels, size_t *cap)
{
	for (size_t first = 0, end; first < cnt; first = end) {
		end = first + 1;
		while (end < cnt && !compare_frames(sites[first], sites[end], frame_cnt))
			end++;
		if (!is_funnel(sites + first, end - first, frame_cnt))
			continue;
		if (array_reserve(&funnels->funnels, cap, funnels->cnt + 1))
			return -ENOMEM;
		/* The last one has so many frames: shorter ones come before it. */
		funnels->funnels[funnels->cnt++] = (struct funnel){sites[end - 1], frame_cnt};
	}
	return 0;
}

int funnels_init(const struct candidate *sites, size_t cnt, struct funnels *ret)
{
	cleanup_free const struct site **sorted = calloc(cnt + 1, sizeof(*sorted));
	struct funnels funnels = {0};
	size_t sorted_cnt = 0, cap = 0;
	int err = sorted ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < cnt; i++) {
		const struct site *site = sites[i].site;

		if (site->space == SPACE_USER && site->frame_cnt > 1 &&
		    !candidate_is_suspect(&sites[i]))
			sorted[sorted_cnt++] = site;
	}
	if (!err)
		qsort(sorted, sorted_cnt, sizeof(*sorted), by_frames);
	for (size_t i = 1; !err && i <= MOST_FRAMES; i++)
		err = find(sorted, sorted_cnt, i, &funnels, &cap);
	if (err)
		funnels_deinit(&funnels);
	else
		*ret = funnels;
	return err;
}

void funnels_deinit(struct funnels *funnels)
{
	free(funnels->funnels);
	*funnels = (struct funnels){0};
}

size_t funnels_frame_cnt(const struct funnels *funnels, const struct site *site)
{
	/* The longer ones come last. */
	for (size_t i = funnels->cnt; i-- > 0;) {
		const struct funnel *funnel = &funnels->funnels[i];

		if (site->frame_cnt > funnel->frame_cnt &&
		    !compare_frames(site, funnel->site, funnel->frame_cnt))
			return funnel->frame_cnt;
	}
	return 0;
}
