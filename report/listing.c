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
 * If the report's list of shown sites has an entry for the same site, returns that entry, because
 * it has more details. Otherwise, returns `site`.
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
 * Adds the stack of a suspect. If the suspect is the sum of a runtime's pool, adds the first
 * unlisted site of the pool instead, because the sum has no stack of its own.
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
