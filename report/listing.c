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

static bool has(const struct listing *listing, const struct report_site *site)
{
	for (size_t i = 0; i < listing->cnt; i++)
		if (listing->items[i]->site == site->site)
			return true;
	return false;
}

static void add(struct listing *listing, const struct report_site *site)
{
	if (!has(listing, site))
		listing->items[listing->cnt++] = shown_as(listing->report, site);
}

/*
 * Adds the stack of a suspect. The sum of a runtime's pool has no stack of its own, and the blocks
 * in it are listed with their sites, so the first of these sites takes its place.
 */
static void add_suspect(struct listing *listing, const struct report_site *suspect, size_t upto)
{
	const struct report_site *sites = listing->report->sites;
	size_t i = 0;

	if (!suspect->in_pool) {
		add(listing, suspect);
		return;
	}
	while (i < upto && (!sites[i].in_pool || sites[i].site->process != suspect->site->process ||
			    has(listing, &sites[i])))
		i++;
	if (i < upto)
		add(listing, &sites[i]);
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
	for (size_t i = 0; i < report->suspect_cnt; i++)
		add_suspect(&listing, report->suspects[i].site, upto);
	for (size_t i = 0; i < upto && listing.cnt < report->site_cnt; i++)
		add(&listing, &report->sites[i]);
	*ret_cnt = listing.cnt;
	*ret = listing.items;
	return 0;
}
