// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches sites, sorted by their innermost frames, for funnels. Counts the callers and block sizes
 * of each function.
 */
#include "report/funnels.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "report/shared_frames.h"

/*
 * Minimum number of callers of a funnel, and minimum number of different block sizes. The limits
 * exclude constructors, which have few callers and allocate blocks of one size.
 */
#define LEAST_CALLERS 8
#define LEAST_SIZES 4

/* Maximum number of innermost frames that make up a funnel: wrappers are not nested deeper. */
#define MOST_FRAMES 3

_Static_assert(MOST_FRAMES < SHARED_FRAMES, "sites that share frames stand together");

/* Callers of a function, and the average block sizes of their sites. */
struct use {
	/*
	 * Index of the sum for the call at the function's frame, if this sum grows; else SIZE_MAX.
	 */
	size_t sum;
	/*
	 * Number of callers whose memory does not grow, and number of callers whose memory grows.
	 */
	size_t calm, growing;
	/*
	 * Different average block sizes of callers that do not grow; at most LEAST_SIZES are
	 * stored.
	 */
	uint64_t sizes[LEAST_SIZES];
	size_t size_cnt;
	double gained; /* bytes that the sum gained; 0 if the sum does not grow */
	double gained_by_growing;
	double most; /* largest gain of a single caller */
};

static uint64_t size_of(const struct site *site)
{
	return site->count ? site->bytes / site->count : 0;
}

/* Adds a size if it is new, up to LEAST_SIZES different sizes. */
static void add_size(uint64_t *sizes, size_t *cnt, uint64_t size)
{
	for (size_t i = 0; i < *cnt; i++)
		if (sizes[i] == size)
			return;
	if (*cnt < LEAST_SIZES)
		sizes[(*cnt)++] = size;
}

static bool grows(const struct callers *callers, const struct candidate *site, size_t frame)
{
	size_t sum = callers_find(callers, site->site, frame);

	return candidate_is_suspect(site) || (sum != SIZE_MAX && callers_grow(callers, sum));
}

/*
 * Adds a caller of a function to `use`. `sites` are all sites whose stacks have the function and
 * this caller.
 */
static void add_caller(const struct callers *callers, const struct candidate *const *sites,
		       size_t cnt, size_t frame_cnt, struct use *use)
{
	double gained = 0;
	bool is_growing = false;

	for (size_t i = 0; i < cnt; i++) {
		is_growing |= grows(callers, sites[i], frame_cnt);
		if (use->sum != SIZE_MAX && sites[i]->growth.history)
			gained += callers_gain(callers, use->sum, sites[i]->growth.history);
	}
	use->gained += gained;
	use->most = fmax(use->most, gained);
	if (is_growing) {
		use->growing++;
		use->gained_by_growing += gained;
		return;
	}
	use->calm++;
	for (size_t i = 0; i < cnt; i++)
		add_size(use->sizes, &use->size_cnt, size_of(sites[i]->site));
}

/*
 * True if the function itself, not one of its callers, seems to keep memory: its memory grows,
 * callers whose memory grows account for less than half of that growth, and every caller accounts
 * for less than a quarter.
 */
static bool is_keeper(const struct use *use)
{
	return use->sum != SIZE_MAX && 2 * use->gained_by_growing < use->gained &&
	       4 * use->most < use->gained;
}

/*
 * True if the sites belong to a funnel. The sites share their frame_cnt innermost frames and are
 * sorted by the next frame.
 */
static bool is_funnel(const struct callers *callers, const struct candidate *const *sites,
		      size_t cnt, size_t frame_cnt)
{
	struct use use = {.sum = callers_find(callers, sites[0]->site, frame_cnt - 1)};

	if (cnt < LEAST_CALLERS)
		return false;
	if (use.sum != SIZE_MAX && !callers_grow(callers, use.sum))
		use.sum = SIZE_MAX;
	for (size_t first = 0, end; first < cnt; first = end) {
		end = shared_frames_end(sites, first, cnt, frame_cnt + 1);
		if (sites[first]->site->frame_cnt > frame_cnt)
			add_caller(callers, sites + first, end - first, frame_cnt, &use);
	}
	return use.calm >= LEAST_CALLERS && use.size_cnt >= LEAST_SIZES &&
	       use.calm >= use.growing && !is_keeper(&use);
}

static int find(const struct callers *callers, const struct candidate *const *sites, size_t cnt,
		size_t frame_cnt, struct funnels *funnels, size_t *cap)
{
	for (size_t first = 0, end; first < cnt; first = end) {
		end = shared_frames_end(sites, first, cnt, frame_cnt);
		if (!is_funnel(callers, sites + first, end - first, frame_cnt))
			continue;
		if (array_reserve(&funnels->funnels, cap, funnels->cnt + 1))
			return -ENOMEM;
		/*
		 * One of the sites is enough, since all of them have the funnel's innermost frames.
		 */
		funnels->funnels[funnels->cnt++] = (struct funnel){sites[end - 1]->site, frame_cnt};
	}
	return 0;
}

int funnels_init(const struct candidate *const *sites, size_t cnt, const struct callers *callers,
		 struct funnels *ret)
{
	struct funnels funnels = {0};
	size_t cap = 0;
	int err = 0;

	for (size_t i = 1; !err && i <= MOST_FRAMES; i++)
		err = find(callers, sites, cnt, i, &funnels, &cap);
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
	/* Funnels are sorted by frame_cnt: search backwards to find the one with most frames. */
	for (size_t i = funnels->cnt; i-- > 0;) {
		const struct funnel *funnel = &funnels->funnels[i];

		if (site->frame_cnt > funnel->frame_cnt &&
		    !shared_frames_compare(site, funnel->site, funnel->frame_cnt))
			return funnel->frame_cnt;
	}
	return 0;
}
