// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which sites are suppressed. What is known of sites is kept in the order of their ids, and only as
 * long as snapshots have them.
 */
#include "report/suppressor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "report/peak.h"

#define NSEC_PER_MSEC 1000000

/* What a site matches: the index of a pattern, or one of these. */
#define NO_PATTERN SIZE_MAX
#define NOT_KNOWN (SIZE_MAX - 1)

struct verdict {
	uint64_t id;
	size_t pattern;
};

struct suppressor {
	const struct suppressions *suppressions;
	struct verdict *verdicts; /* sorted by id */
	size_t verdict_cnt;
	struct suppressed *sums; /* by pattern */
	struct peak peak;        /* its sites are ours, all else the snapshot's */
};

/* The sites of a snapshot and of its peak, and what they match. */
struct task {
	const struct site **sites;
	size_t *patterns;
	size_t cnt;
};

int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret)
{
	struct suppressor *suppressor = calloc(1, sizeof(*suppressor));

	if (!suppressor)
		return -ENOMEM;
	suppressor->suppressions = suppressions;
	suppressor->sums = calloc(suppressions->cnt + 1, sizeof(*suppressor->sums));
	if (!suppressor->sums) {
		suppressor__free(suppressor);
		return -ENOMEM;
	}
	for (size_t i = 0; i < suppressions->cnt; i++)
		suppressor->sums[i].pattern = suppressions->patterns[i];
	*ret = suppressor;
	return 0;
}

void suppressor__free(struct suppressor *suppressor)
{
	if (!suppressor)
		return;
	free(suppressor->verdicts);
	free(suppressor->sums);
	free(suppressor->peak.sites);
	free(suppressor);
}

static int by_id(const void *left, const void *right)
{
	const struct verdict *a = left, *b = right;

	return a->id < b->id ? -1 : a->id > b->id;
}

static size_t known_pattern(const struct suppressor *suppressor, uint64_t id)
{
	const struct verdict key = {.id = id};
	const struct verdict *found = NULL;

	if (suppressor->verdict_cnt)
		found = bsearch(&key, suppressor->verdicts, suppressor->verdict_cnt, sizeof(key),
				by_id);
	return found ? found->pattern : NOT_KNOWN;
}

static bool has_names(const struct sym_location *location)
{
	for (size_t i = 0; i < location->frame_cnt; i++)
		if (!location->frames[i].symbol)
			return false;
	return true;
}

/*
 * The pattern that comes first of those that any frame matches. What code a frame is of may be
 * found out later.
 */
static size_t find_pattern(const struct suppressor *suppressor, struct symbol_backend *symbols,
			   const struct site *site)
{
	size_t none = suppressor->suppressions->cnt, first = none;
	bool all_known = true;

	for (size_t i = 0; i < site->frame_cnt; i++) {
		const struct sym_location *location =
			symbols->lookup(symbols, site, site->frames[i]);
		size_t found = none;

		if (location)
			found = suppressions_find(suppressor->suppressions, location);
		if (!location || (symbols->names_follow && !has_names(location)))
			all_known = false;
		if (found < first)
			first = found;
	}
	if (first < none)
		return first;
	return all_known ? NO_PATTERN : NOT_KNOWN;
}

/* Names what is not known yet. A name that was not found in time may still come. */
static int judge(const struct suppressor *suppressor, struct symbol_backend *symbols,
		 unsigned int budget_ms, const struct task *work)
{
	cleanup_free const struct site **open = calloc(work->cnt + 1, sizeof(*open));
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)budget_ms * NSEC_PER_MSEC;
	size_t open_cnt = 0;
	bool in_time;
	int err;

	if (!open)
		return -ENOMEM;
	for (size_t i = 0; i < work->cnt; i++) {
		work->patterns[i] = known_pattern(suppressor, work->sites[i]->id);
		if (work->patterns[i] == NOT_KNOWN)
			open[open_cnt++] = work->sites[i];
	}
	if (!open_cnt)
		return 0;
	err = symbols->prepare(symbols, open, open_cnt, budget_ms);
	in_time = clock_ns(CLOCK_MONOTONIC) < end_ns;
	for (size_t i = 0; !err && i < work->cnt; i++) {
		if (work->patterns[i] != NOT_KNOWN)
			continue;
		work->patterns[i] = find_pattern(suppressor, symbols, work->sites[i]);
		if (work->patterns[i] == NO_PATTERN && !in_time)
			work->patterns[i] = NOT_KNOWN;
	}
	return err;
}

static int remember(struct suppressor *suppressor, const struct task *work)
{
	struct verdict *verdicts = calloc(work->cnt + 1, sizeof(*verdicts));
	size_t cnt = 0;

	if (!verdicts)
		return -ENOMEM;
	for (size_t i = 0; i < work->cnt; i++)
		if (work->patterns[i] != NOT_KNOWN)
			verdicts[cnt++] = (struct verdict){work->sites[i]->id, work->patterns[i]};
	qsort(verdicts, cnt, sizeof(*verdicts), by_id);
	free(suppressor->verdicts);
	suppressor->verdicts = verdicts;
	suppressor->verdict_cnt = cnt;
	return 0;
}

static bool is_suppressed(size_t pattern)
{
	return pattern < NOT_KNOWN;
}

/* places: where each site of the snapshot is now, of those that stay. */
static void take_out_blocks(struct snapshot *snap, const size_t *patterns, const size_t *places)
{
	size_t cnt = 0;

	for (size_t i = 0; i < snap->block_cnt; i++) {
		struct block block = snap->blocks[i];

		if (is_suppressed(patterns[block.site]))
			continue;
		block.site = places[block.site];
		snap->blocks[cnt++] = block;
	}
	snap->block_cnt = cnt;
}

static void take_out(struct suppressor *suppressor, struct snapshot *snap, const size_t *patterns,
		     size_t *places)
{
	size_t cnt = 0;

	for (size_t i = 0; i < suppressor->suppressions->cnt; i++)
		suppressor->sums[i] = (struct suppressed){suppressor->sums[i].pattern, 0, 0, 0};
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		places[i] = cnt;
		if (!is_suppressed(patterns[i])) {
			snap->sites[cnt++] = *site;
			continue;
		}
		suppressor->sums[patterns[i]].bytes += site->bytes;
		suppressor->sums[patterns[i]].count += site->count;
		suppressor->sums[patterns[i]].sites++;
	}
	take_out_blocks(snap, patterns, places);
	snap->site_cnt = cnt;
	snap->suppressed = suppressor->sums;
	snap->suppressed_cnt = suppressor->suppressions->cnt;
}

/* A peak is the source's own: here it is one with fewer sites. */
static int replace_peak(struct suppressor *suppressor, struct snapshot *snap,
			const size_t *patterns)
{
	const struct peak *whole = snap->peak;
	struct peak *peak = &suppressor->peak;
	struct site *sites;

	if (!whole)
		return 0;
	sites = calloc(whole->site_cnt + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	free(peak->sites);
	*peak = *whole;
	peak->sites = sites;
	peak->site_cnt = 0;
	for (size_t i = 0; i < whole->site_cnt; i++) {
		const struct site *site = &whole->sites[i];

		if (!is_suppressed(patterns[i])) {
			sites[peak->site_cnt++] = *site;
			continue;
		}
		peak->bytes -= site->bytes;
		peak->count -= site->count;
		peak->highest_bytes -= site->bytes;
	}
	snap->peak = peak;
	return 0;
}

static void collect(const struct snapshot *snap, struct task *work)
{
	for (size_t i = 0; i < snap->site_cnt; i++)
		work->sites[work->cnt++] = &snap->sites[i];
	for (size_t i = 0; snap->peak && i < snap->peak->site_cnt; i++)
		work->sites[work->cnt++] = &snap->peak->sites[i];
}

int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      unsigned int budget_ms, struct snapshot *snap)
{
	size_t cnt = snap->site_cnt + (snap->peak ? snap->peak->site_cnt : 0);
	cleanup_free const struct site **sites = calloc(cnt + 1, sizeof(*sites));
	cleanup_free size_t *patterns = calloc(cnt + 1, sizeof(*patterns));
	cleanup_free size_t *places = calloc(snap->site_cnt + 1, sizeof(*places));
	struct task work = {.sites = sites, .patterns = patterns};
	int err = sites && patterns && places ? 0 : -ENOMEM;

	if (err)
		return err;
	collect(snap, &work);
	err = judge(suppressor, symbols, budget_ms, &work);
	if (!err)
		err = remember(suppressor, &work);
	if (!err)
		err = replace_peak(suppressor, snap, patterns + snap->site_cnt);
	if (!err)
		take_out(suppressor, snap, patterns, places);
	return err;
}
