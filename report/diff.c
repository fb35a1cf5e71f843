// SPDX-License-Identifier: GPL-2.0-or-later
/* Matches the sites of two snapshots by keys, and sorts the changed sites. */
#include "report/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/intern.h"
#include "base/order.h"
#include "report/naming.h"

static const char *const change_names[CHANGE_CNT] = {
	[CHANGE_NEW] = "new",   [CHANGE_GROWN] = "grown",    [CHANGE_SHRUNK] = "shrunk",
	[CHANGE_GONE] = "gone", [CHANGE_NONE] = "unchanged",
};

const char *change_name(enum change change)
{
	return change_names[change];
}

int64_t diff_bytes(const struct diff_site *site)
{
	return (int64_t)(site->parts[1].bytes - site->parts[0].bytes);
}

int64_t diff_count(const struct diff_site *site)
{
	return (int64_t)(site->parts[1].count - site->parts[0].count);
}

static enum change change_of(const struct diff_site *site)
{
	int64_t bytes = diff_bytes(site), count = diff_count(site);

	if (!site->parts[0].site)
		return CHANGE_NEW;
	if (!site->parts[1].site)
		return CHANGE_GONE;
	if (bytes > 0 || (!bytes && count > 0))
		return CHANGE_GROWN;
	return bytes || count ? CHANGE_SHRUNK : CHANGE_NONE;
}

static int compare_ids(const void *left, const void *right)
{
	const struct site *const *a = left, *const *b = right;

	return ORDER((*a)->id, (*b)->id);
}

/* Returns the sites of a snapshot, sorted by their ids; NULL if out of memory. */
static const struct site **sort_ids(const struct snapshot *snap)
{
	const struct site **ret = calloc(snap->site_cnt + 1, sizeof(*ret));

	for (size_t i = 0; ret && i < snap->site_cnt; i++)
		ret[i] = &snap->sites[i];
	if (ret)
		qsort(ret, snap->site_cnt, sizeof(*ret), compare_ids);
	return ret;
}

/*
 * Makes the key of a site. Within one run, a site has the same id in both snapshots, but its keys
 * may differ: the key of a frame changes once the frame's file has been read. So if the second
 * snapshot has the site, the site's key in the second snapshot is used for both sides.
 */
static int make_key(const struct diff *diff, size_t which, const struct site *const *second_ids,
		    const struct site *site, struct diff_keys *keys)
{
	const struct snapshot *second = diff->sides[1].snap;
	const struct site *const *counterpart = NULL;

	if (which == 0 && keys->same_run)
		counterpart =
			bsearch(&site, second_ids, second->site_cnt, sizeof(site), compare_ids);
	return counterpart ? diff_keys_make(keys, diff->sides[1].symbols, *counterpart)
			   : diff_keys_make(keys, diff->sides[which].symbols, site);
}

/*
 * Adds the sites of a side to diff->sites. Sites with the same key share an entry. The array must
 * have room for all entries.
 */
static int add_side(struct diff *diff, size_t which, const struct site *const *second_ids,
		    struct diff_keys *keys, struct intern *table)
{
	struct diff_side *side = &diff->sides[which];

	for (size_t i = 0; i < side->snap->site_cnt; i++) {
		const struct site *site = &side->snap->sites[i];
		struct diff_part *part;
		uint64_t number = 0;
		bool fresh;

		if (!make_key(diff, which, second_ids, site, keys))
			number = intern_get(table, keys->key.bytes, keys->key.len, &fresh);
		if (!number)
			return -ENOMEM;
		part = &diff->sites[number - 1].parts[which];
		part->bytes += site->bytes;
		part->count += site->count;
		if (!part->site || site->bytes > part->site->bytes)
			part->site = site;
		side->bytes += site->bytes;
		side->count += site->count;
	}
	return 0;
}

static uint64_t size_of(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

static const struct site *later_of(const struct diff_site *site)
{
	return site->parts[1].site ? site->parts[1].site : site->parts[0].site;
}

/*
 * Compares two changed sites for sorting: see diff_init(). Never returns 0 for two different sites.
 */
static int compare(const void *left, const void *right, void *arg)
{
	const struct diff_site *a = left, *b = right;
	enum sort_order order = *(const enum sort_order *)arg;
	int64_t a_bytes = diff_bytes(a), b_bytes = diff_bytes(b);
	int diff = 0;

	if (order == SORT_COUNT)
		diff = ORDER(size_of(diff_count(b)), size_of(diff_count(a)));
	else if (order != SORT_SIZE)
		diff = ORDER(b_bytes, a_bytes);
	return diff ?: ORDER(size_of(b_bytes), size_of(a_bytes))
	       ?: ORDER(size_of(diff_count(b)), size_of(diff_count(a)))
	       ?: ORDER(a->change, b->change)
	       ?: ORDER(later_of(a)->id, later_of(b)->id);
}

/* Removes sites that have not changed, and sorts all others. */
static void sort_changed(struct diff *diff, size_t cnt, enum sort_order order)
{
	for (size_t i = 0; i < cnt; i++) {
		struct diff_site *site = &diff->sites[i];

		site->change = change_of(site);
		diff->cnt_of[site->change]++;
		if (site->change != CHANGE_NONE)
			diff->sites[diff->site_cnt++] = *site;
	}
	qsort_r(diff->sites, diff->site_cnt, sizeof(*diff->sites), compare, &order);
}

static int name_sites(const struct options *opts, struct diff *diff)
{
	for (size_t i = 0; i < diff->shown_cnt; i++) {
		struct diff_site *site = &diff->sites[i];
		const struct diff_side *side = &diff->sides[site->parts[1].site ? 1 : 0];

		site->shown.site = later_of(site);
		site->shown.locations =
			calloc(site->shown.site->frame_cnt + 1, sizeof(*site->shown.locations));
		if (!site->shown.locations)
			return -ENOMEM;
		report_site_name(opts, side->symbols, NULL, &site->shown);
	}
	return 0;
}

static int match(struct diff *diff, bool same_run, size_t *ret_cnt)
{
	struct diff_keys keys;
	struct intern table = {0};
	cleanup_free const struct site **second_ids = sort_ids(diff->sides[1].snap);
	int err = diff_keys_init(diff->sides, same_run, &keys);

	if (!second_ids)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < 2; i++)
		err = add_side(diff, i, second_ids, &keys, &table);
	*ret_cnt = table.cnt;
	intern_deinit(&table);
	diff_keys_deinit(&keys);
	return err;
}

int diff_init(const struct options *opts, const struct diff_side *sides, bool same_run,
	      struct diff *ret)
{
	struct diff diff = {.sides = {sides[0], sides[1]}};
	size_t cnt = 0;
	int err = -ENOMEM;

	diff.sites =
		calloc(sides[0].snap->site_cnt + sides[1].snap->site_cnt + 1, sizeof(*diff.sites));
	if (diff.sites)
		err = match(&diff, same_run, &cnt);
	if (!err) {
		sort_changed(&diff, cnt, opts->sort);
		diff.shown_cnt = diff.site_cnt < opts->top ? diff.site_cnt : opts->top;
		err = name_sites(opts, &diff);
	}
	if (err) {
		diff_deinit(&diff);
		return err;
	}
	*ret = diff;
	return 0;
}

void diff_deinit(struct diff *diff)
{
	for (size_t i = 0; i < diff->shown_cnt; i++)
		free(diff->sites[i].shown.locations);
	free(diff->sites);
	*diff = (struct diff){0};
}
