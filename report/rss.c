// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes sums of the parts of resident memory, and names the parts. */
#include "report/rss.h"

#include <math.h>
#include <string.h>

#define GROWTH_MIN (1ULL << 20)
/* Pinned memory matters if it is at least 1/PINNED_PART of resident memory. */
#define PINNED_PART 10
/* Reports mention huge pages if these are more than 1/HUGE_PART of resident memory. */
#define HUGE_PART 10
/*
 * The allocators are blamed for large resident memory if the free memory that they keep is more
 * than the memory in use, and at least 1/BLAMED_PART of resident memory.
 */
#define BLAMED_PART 3

static const char *const part_names[] = {
	[RSS_LIVE] = "live",     [RSS_PINNED] = "pinned",      [RSS_TRIMMABLE] = "trimmable",
	[RSS_TOP] = "top",       [RSS_PYTHON] = "python_free", [RSS_MAPPED] = "mapped",
	[RSS_STACKS] = "stacks", [RSS_FILES] = "files",        [RSS_SHARED] = "shared",
	[RSS_UNREAD] = "unread", [RSS_OTHER] = "other",
};

_Static_assert(sizeof(part_names) / sizeof(*part_names) == RSS_PART_CNT, "each part has a name");

const char *rss_part_name(enum rss_part part)
{
	return part_names[part];
}

uint64_t rss_total(const struct rss *rss)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RSS_PART_CNT; i++)
		sum += rss->parts[i];
	return sum;
}

bool rss_pins_matter(const struct rss *rss)
{
	return rss->has_blocks && rss->parts[RSS_PINNED] &&
	       rss->parts[RSS_PINNED] >= rss_total(rss) / PINNED_PART;
}

bool rss_has_many_huge(const struct rss *rss)
{
	return rss->huge > rss_total(rss) / HUGE_PART;
}

uint64_t rss_kept(const struct rss *rss)
{
	return rss->parts[RSS_PINNED] + rss->parts[RSS_TRIMMABLE] + rss->parts[RSS_TOP];
}

uint64_t rss_all_kept(const struct rss *rss)
{
	return rss_kept(rss) + rss->parts[RSS_PYTHON];
}

bool rss_is_mostly_kept(const struct rss *rss)
{
	uint64_t kept = rss_kept(rss), used = rss->parts[RSS_LIVE];

	if (rss->parts[RSS_PYTHON] > kept) {
		kept += rss->parts[RSS_PYTHON];
		used += rss->parts[RSS_MAPPED];
	}
	return kept > used && kept >= rss_total(rss) / BLAMED_PART;
}

const char *rss_allocator_name(enum rss_allocator allocator)
{
	static const char *const names[] = {[ALLOCATOR_JEMALLOC] = "jemalloc",
					    [ALLOCATOR_TCMALLOC] = "tcmalloc",
					    [ALLOCATOR_MIMALLOC] = "mimalloc",
					    [ALLOCATOR_MUSL] = "musl"};

	return names[allocator];
}

uint64_t rss_others_keep(const struct rss *rss)
{
	uint64_t mapped = rss->parts[RSS_MAPPED], python = rss->parts[RSS_PYTHON];
	uint64_t tracked = rss->outside > python ? rss->outside - python : 0;

	return mapped > tracked ? mapped - tracked : 0;
}

void rss_past_add(struct rss_past *past, uint32_t image, uint64_t elapsed_ns, const struct rss *rss)
{
	struct rss_point *point;

	if (image != past->image)
		past->cnt = 0;
	if (!past->cnt)
		past->first = *rss;
	past->image = image;
	past->latest = *rss;
	if (past->cnt == RSS_POINTS) {
		past->cnt /= 2;
		for (size_t i = 0; i < past->cnt; i++)
			past->points[i] = past->points[2 * i];
	}
	point = &past->points[past->cnt++];
	point->elapsed_ns = elapsed_ns;
	memcpy(point->parts, rss->parts, sizeof(point->parts));
}

static uint64_t last_seen_ns(const struct rss_past *past)
{
	return past->cnt ? past->points[past->cnt - 1].elapsed_ns : 0;
}

const struct rss_past *rss_pasts_find(const struct rss_pasts *pasts, uint32_t image)
{
	for (size_t i = 0; i < RSS_PROCESSES_MAX; i++)
		if (pasts->items[i].cnt && pasts->items[i].image == image)
			return &pasts->items[i];
	return NULL;
}

void rss_pasts_add(struct rss_pasts *pasts, uint32_t image, uint64_t elapsed_ns,
		   const struct rss *rss)
{
	const struct rss_past *found = rss_pasts_find(pasts, image);
	size_t at = found ? (size_t)(found - pasts->items) : 0;

	for (size_t i = 0; !found && i < RSS_PROCESSES_MAX; i++)
		if (last_seen_ns(&pasts->items[i]) < last_seen_ns(&pasts->items[at]))
			at = i;
	rss_past_add(&pasts->items[at], image, elapsed_ns, rss);
}

const struct rss_past *rss_pasts_latest(const struct rss_pasts *pasts)
{
	const struct rss_past *found = NULL;
	bool is_only = true;

	for (size_t i = 0; i < RSS_PROCESSES_MAX; i++) {
		const struct rss_past *past = &pasts->items[i];

		if (!past->cnt || (found && last_seen_ns(past) < last_seen_ns(found)))
			continue;
		is_only = !found || last_seen_ns(past) > last_seen_ns(found);
		found = past;
	}
	return is_only ? found : NULL;
}

void rss_join(struct rss *rss, const struct rss *other)
{
	if (!rss_total(rss))
		rss->allocator = other->allocator;
	else if (rss->allocator != other->allocator)
		rss->allocator = ALLOCATOR_NONE;
	for (size_t i = 0; i < RSS_PART_CNT; i++)
		rss->parts[i] += other->parts[i];
	rss->arenas += other->arenas;
	rss->torn_arenas += other->torn_arenas;
	rss->skipped_arenas += other->skipped_arenas;
	rss->huge += other->huge;
	rss->swapped += other->swapped;
	rss->main_top += other->main_top;
	rss->room += other->room;
}

static double kept_at(const struct rss_point *point, enum rss_kept which)
{
	uint64_t kept = point->parts[RSS_TRIMMABLE] + point->parts[RSS_TOP];

	return (double)(kept + (which == RSS_KEPT_ALL ? point->parts[RSS_PINNED] : 0));
}

double rss_past_kept(const struct rss_past *past, enum rss_kept which, uint64_t since_ns,
		     uint64_t now_ns)
{
	const struct rss_point *points = past->points;
	size_t first = 0, last;
	double before;

	if (!past->cnt)
		return 0;
	last = past->cnt - 1;
	if (points[last].elapsed_ns < since_ns + (now_ns - since_ns) / 2)
		return 0;
	while (first < last && points[first + 1].elapsed_ns <= since_ns)
		first++;
	/* If since_ns lies between two points, assume the larger of their values. */
	before = kept_at(&points[first], which);
	if (first < last && points[first].elapsed_ns < since_ns)
		before = fmax(before, kept_at(&points[first + 1], which));
	return fmax(kept_at(&points[last], which) - before, 0);
}

struct reach_sum rss_older(const struct rss *rss)
{
	struct reach_sum sum = {0};

	for (size_t i = 0; i < HEAP_CLASSES; i++) {
		sum.bytes += rss->older[i].bytes;
		sum.count += rss->older[i].count;
	}
	return sum;
}

uint64_t rss_term(const struct rss *rss, enum rss_part part)
{
	if (part == RSS_TRIMMABLE || part == RSS_TOP)
		return 0;
	return part == RSS_PINNED ? rss_kept(rss) : rss->parts[part];
}

bool rss_can_compare(const struct rss *first, const struct rss *rss, enum rss_part part)
{
	return (part > RSS_TOP && part != RSS_UNREAD) ||
	       (!first->skipped_arenas && !rss->skipped_arenas);
}

uint64_t rss_growth(const struct rss *first, const struct rss *rss, enum rss_part last,
		    enum rss_part *ret_part, uint64_t *ret_bytes)
{
	uint64_t before = rss_total(first), now = rss_total(rss);

	*ret_bytes = 0;
	for (enum rss_part part = RSS_LIVE; part <= last; part++) {
		if (!rss_can_compare(first, rss, part) ||
		    rss_term(rss, part) <= rss_term(first, part) + *ret_bytes)
			continue;
		*ret_bytes = rss_term(rss, part) - rss_term(first, part);
		*ret_part = part;
	}
	if (now < before + GROWTH_MIN || now - before < now / 100 || !*ret_bytes)
		return 0;
	return now - before;
}
