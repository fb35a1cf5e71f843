// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares each site with the sites that are already in the list of joined sites. */
#include "report/depths.h"

#include <errno.h>
#include <stdlib.h>

#include "report/fold.h"

/* Maximum number of joined sites that each site is compared with. */
#define COMPARED_MAX 64

static bool may_join(const struct report_site *a, const struct report_site *b)
{
	const struct site *x = a->site, *y = b->site;

	return x->space == SPACE_USER && y->space == SPACE_USER && x->kind == y->kind &&
	       x->process == y->process && x->tid == y->tid && x->end == y->end &&
	       a->first_frame < x->frame_cnt && b->first_frame < y->frame_cnt &&
	       x->frames[a->first_frame] == y->frames[b->first_frame] && !a->held_by_cnt &&
	       !b->held_by_cnt && fold_same(a, b);
}

static void begin(struct joined_site *joined, const struct report_site *shown)
{
	joined->shown = *shown;
	joined->sum = *shown->site;
	joined->shown.site = &joined->sum;
}

static void join(struct joined_site *joined, const struct report_site *shown)
{
	site_add_sums(&joined->sum, shown->site);
	joined->sum.inherited_bytes += shown->site->inherited_bytes;
	joined->sum.inherited_count += shown->site->inherited_count;
	joined->shown.growth_bytes += shown->growth_bytes;
	joined->shown.growth_count += shown->growth_count;
	joined->shown.depth_cnt += joined->shown.depth_cnt ? 1 : 2;
}

static struct joined_site *find(struct joined_site *joined, size_t cnt,
				const struct report_site *shown)
{
	for (size_t i = 0; i < cnt && i < COMPARED_MAX; i++)
		if (may_join(&joined[i].shown, shown))
			return &joined[i];
	return NULL;
}

int depths_join(const struct report_site *const *sites, size_t cnt, size_t *ret_cnt,
		struct joined_site **ret)
{
	struct joined_site *joined = calloc(cnt + 1, sizeof(*joined));
	size_t joined_cnt = 0;

	if (!joined)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		struct joined_site *same = find(joined, joined_cnt, sites[i]);

		if (same)
			join(same, sites[i]);
		else
			begin(&joined[joined_cnt++], sites[i]);
	}
	*ret_cnt = joined_cnt;
	*ret = joined;
	return 0;
}
