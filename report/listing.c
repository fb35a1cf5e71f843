// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts the stacks of losses, of suspects and of sites into one list. */
#include "report/listing.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash_map.h"

/* Value in `known` that marks a site as listed. */
static struct report_site is_listed;

struct listing {
	const struct report *report;
	/*
	 * Key: address of a site. Value: the site's entry in report->sites; &is_listed once the
	 * site is listed.
	 */
	struct hash_map known;
	const struct report_site **items;
	size_t cnt;
};

static void *find(const struct listing *listing, const struct report_site *site)
{
	return hash_map_get(&listing->known, (uintptr_t)site->site);
}

static int set(struct listing *listing, const struct report_site *site, struct report_site *value)
{
	return hash_map_set(&listing->known, (uintptr_t)site->site, value);
}

static int find_shown(struct listing *listing)
{
	const struct report *report = listing->report;

	for (size_t i = 0; i < report->site_cnt; i++)
		if (set(listing, &report->sites[i], &report->sites[i]))
			return -ENOMEM;
	return 0;
}

static bool has(const struct listing *listing, const struct report_site *site)
{
	return find(listing, site) == &is_listed;
}

/*
 * Adds a site unless it is listed. If the report's list of shown sites has an entry for the site,
 * adds that entry, because it has more details.
 */
static int add(struct listing *listing, const struct report_site *site)
{
	const struct report_site *known = find(listing, site);

	if (known == &is_listed)
		return 0;
	listing->items[listing->cnt++] = known ? known : site;
	return set(listing, site, &is_listed);
}

/*
 * Adds the stack of a suspect. If the suspect is the sum of a runtime's pool, adds the first
 * unlisted site of the pool instead, because the sum has no stack of its own.
 */
static int add_suspect(struct listing *listing, const struct report_site *suspect, size_t upto)
{
	const struct report_site *sites = listing->report->sites;
	size_t i = 0;

	if (!suspect->in_pool)
		return add(listing, suspect);
	while (i < upto && (!sites[i].in_pool || sites[i].site->process != suspect->site->process ||
			    has(listing, &sites[i])))
		i++;
	return i < upto ? add(listing, &sites[i]) : 0;
}

static int add_all(struct listing *listing, size_t upto)
{
	const struct report *report = listing->report;
	int err = find_shown(listing);

	for (size_t i = 0; !err && i < report->loss_cnt; i++)
		err = add(listing, report->losses[i].site);
	for (size_t i = 0; !err && i < report->suspect_cnt; i++)
		err = add_suspect(listing, report->suspects[i].site, upto);
	for (size_t i = 0; !err && i < upto && listing->cnt < report->site_cnt; i++)
		err = add(listing, &report->sites[i]);
	return err;
}

int report_list(const struct report *report, size_t upto, size_t *ret_cnt,
		const struct report_site ***ret)
{
	size_t most = report->site_cnt + report->loss_cnt + report->suspect_cnt;
	struct listing listing = {.report = report,
				  .items = calloc(most + 1, sizeof(*listing.items))};
	int err = listing.items ? add_all(&listing, upto) : -ENOMEM;

	hash_map_deinit(&listing.known);
	if (err) {
		free(listing.items);
		return err;
	}
	*ret_cnt = listing.cnt;
	*ret = listing.items;
	return 0;
}
