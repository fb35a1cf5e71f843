/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds functions that allocate on behalf of their callers, by behaviour instead of names: they are
 * called from many places and allocate many sizes.
 */
#ifndef REPORT_FUNNELS_H
#define REPORT_FUNNELS_H

#include "report/callers.h"
#include "report/site_order.h"

/* Innermost frames that many sites share. */
struct funnel {
	const struct site *site;
	size_t frame_cnt;
};

struct funnels {
	struct funnel *funnels;
	size_t cnt;
};

/*
 * Finds the funnels among all sites of a report, which must outlive the funnels. Callers that grow,
 * by one site or by their sum, do not count. A function is no funnel, but keeps memory itself, if
 * most of its callers grow, or if it grows and the growth is spread over many callers. callers may
 * be NULL. Returns 0 or -ENOMEM.
 */
int funnels_init(const struct candidate *sites, size_t cnt, const struct callers *callers,
		 struct funnels *ret);
void funnels_deinit(struct funnels *funnels);

/* Returns the number of a site's innermost frames that allocate on behalf of their callers. */
size_t funnels_frame_cnt(const struct funnels *funnels, const struct site *site);

#endif
