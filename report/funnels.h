/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that get memory for whoever calls them, told by what they do and not by their names:
 * they are called from many places, and for many sizes. Knows no names.
 */
#ifndef REPORT_FUNNELS_H
#define REPORT_FUNNELS_H

#include "report/site_order.h"

/* The innermost frames of a site, which many have in common. */
struct funnel {
	const struct site *site;
	size_t frame_cnt;
};

struct funnels {
	struct funnel *funnels;
	size_t cnt;
};

/*
 * Of all sites of a report. Those that seem to leak do not count: if most callers do, it is the
 * function that keeps what it allocates. They must outlive the funnels.
 */
int funnels_init(const struct candidate *sites, size_t cnt, struct funnels *ret);
void funnels_deinit(struct funnels *funnels);

/* How many of its innermost frames get memory for others. */
size_t funnels_frame_cnt(const struct funnels *funnels, const struct site *site);

#endif
