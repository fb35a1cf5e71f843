/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions that allocate on behalf of their callers (funnels). They are recognised by
 * behaviour, not by names: they are called from many places and allocate blocks of many sizes.
 */
#ifndef REPORT_FUNNELS_H
#define REPORT_FUNNELS_H

#include "report/callers.h"
#include "report/site_order.h"

/* A funnel, as the innermost frames that all its sites share. `site` is one of these sites. */
struct funnel {
	const struct site *site;
	size_t frame_cnt;
};

struct funnels {
	struct funnel *funnels;
	size_t cnt;
};

/*
 * Finds the funnels among all sites of a report, which shared_frames_sort() has sorted. The sites
 * must outlive the funnels. Callers whose memory grows, in one site or in their sum, do not count
 * towards the minimum number of callers. A function is no funnel if it seems to keep memory itself:
 * if most of its callers grow, or if it grows and its growth is spread over many callers. `callers`
 * may be NULL. Returns 0 or -ENOMEM.
 */
int funnels_init(const struct candidate *const *sites, size_t cnt, const struct callers *callers,
		 struct funnels *ret);
void funnels_deinit(struct funnels *funnels);

/*
 * Returns the number of a site's innermost frames that belong to a funnel; 0 if the site has no
 * funnel.
 */
size_t funnels_frame_cnt(const struct funnels *funnels, const struct site *site);

#endif
