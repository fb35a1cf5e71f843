// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the stacks of losses, of suspects and of sites into one list. */
#include "report/listing.h"

#include <errno.h>
#include <stdlib.h>

struct listing {
	const struct report *report;
	const struct report_site **items;
	size_t cnt;
};

/*
 * Returns the entry for a site in the report's own list, which has more details. If the list does
 * not have the site, returns `site`.
 */
static const struct report_site *shown_as(const struct report *report,
					  const struct report_site *site)
{
	for (size_t i = 0; i < report->site_cnt; i++)
		if (report->sites[i].site == site->site)
			return &report->sites[i];
	return site;
}

static void add(struct listing *listing, const struct report_site *site)
{
	for (size_t i = 0; i < listing->cnt; i++)
		if (listing->items[i]->site == site->site)
			return;
	listing->items[listing->cnt++] = shown_as(listing->report, site);
}

int report_list(const struct report *report, size_t upto, size_t *ret_cnt,
		const struct report_site ***ret)
{
	size_t most = report->site_cnt + report->loss_cnt + report->suspect_cnt;
	struct listing listing = {.report = report,
				  .items = calloc(most + 1, sizeof(*listing.items))};

	if (!listing.items)
		return -ENOMEM;
	for (size_t i = 0; i < report->loss_cnt; i++)
		add(&listing, report->losses[i].site);
	/* Skip suspects without a stack: the sum of a runtime's objects may have none. */
	for (size_t i = 0; i < report->suspect_cnt; i++)
		if (report->suspects[i].site->site->frame_cnt)
			add(&listing, report->suspects[i].site);
	for (size_t i = 0; i < upto && listing.cnt < report->site_cnt; i++)
		add(&listing, &report->sites[i]);
	*ret_cnt = listing.cnt;
	*ret = listing.items;
	return 0;
}
