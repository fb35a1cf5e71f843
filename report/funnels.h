/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that get memory for whoever calls them, told by what they do and not by their names:
 * they are called from many places, and for many sizes. Knows no names.
 */
#ifndef REPORT_FUNNELS_H
#define REPORT_FUNNELS_H

#include "report/callers.h"
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
 * Of all sites of a report, which must outlive the funnels. Callers that grow, by a site or by
 * their sum, do not count, and must not be most of them: then it is the function that keeps what it
 * allocates. So it is if the function grows, but by no caller in particular. callers may be NULL.
 */
int funnels_init(const struct candidate *sites, size_t cnt, const struct callers *callers,
		 struct funnels *ret);
void funnels_deinit(struct funnels *funnels);

/* How many of its innermost frames get memory for others. */
size_t funnels_frame_cnt(const struct funnels *funnels, const struct site *site);

#endif
