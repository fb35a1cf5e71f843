// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps runs of chunks sorted by address. */
#include "proof/heap_set.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/order.h"

int heap_set_add(struct heap_set *set, const struct heap_map *map)
{
	if (array_reserve(&set->maps, &set->cap, set->cnt + 1))
		return -ENOMEM;
	set->maps[set->cnt++] = *map;
	return 0;
}

/* Returns the end of the readable memory at `start`, at most `end`; `start` if there is none. */
static uint64_t readable_end(const struct memory *memory, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct mapping *mapping = proc_maps_find(&memory->maps, start);

		if (!mapping || !mapping->readable)
			return start;
		start = mapping->end;
	}
	return end;
}

int heap_set_walk(struct heap_set *set, struct heap_reader *reader, struct heap_map map,
		  enum heap_end end, uint64_t limit)
{
	uint64_t readable = readable_end(reader->memory, map.start, limit);
	int err = -EILSEQ;

	if (readable < limit && map.info && reader->memory->changes) {
		limit = readable;
		end = HEAP_END_CUT;
	}
	if (readable >= limit)
		err = heap_map_walk(&map, reader, end, limit);
	if (!err)
		err = heap_set_add(set, &map);
	if (err)
		heap_map_deinit(&map);
	return err;
}

int heap_set_add_unknown(struct heap_set *set, uint64_t start, uint64_t end)
{
	if (array_reserve(&set->unknown, &set->unknown_cap, set->unknown_cnt + 1))
		return -ENOMEM;
	set->unknown[set->unknown_cnt++] = (struct heap_span){.start = start, .end = end};
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct heap_map *map_a = a, *map_b = b;

	return ORDER(heap_map_begin(map_a), heap_map_begin(map_b));
}

static int by_start(const void *a, const void *b)
{
	const struct heap_span *left = a, *right = b;

	return ORDER(left->start, right->start);
}

/*
 * Adds the parts of an unknown range that no map covers. *at: index of the first map to check,
 * which is advanced; so call this for ranges in ascending order.
 */
static int add_gaps(struct heap_set *set, struct heap_span span, size_t *at)
{
	int err = 0;

	while (*at < set->cnt && set->maps[*at].end <= span.start)
		++*at;
	for (size_t i = *at; i < set->cnt && span.start < span.end && !err; i++) {
		uint64_t begin = heap_map_begin(&set->maps[i]);

		if (begin >= span.end)
			break;
		if (begin > span.start)
			err = heap_set_add_unknown(set, span.start, begin);
		span.start = set->maps[i].end;
	}
	return err || span.start >= span.end ? err
					     : heap_set_add_unknown(set, span.start, span.end);
}

/* Sorts the unknown ranges, and cuts off the parts that are in an earlier range or in a map. */
static int sort_unknown(struct heap_set *set)
{
	struct heap_span *spans = set->unknown;
	size_t cnt = set->unknown_cnt, at = 0;
	uint64_t end = 0;
	int err = 0;

	set->unknown = NULL;
	set->unknown_cnt = set->unknown_cap = 0;
	if (cnt)
		qsort(spans, cnt, sizeof(*spans), by_start);
	for (size_t i = 0; i < cnt && !err; i++) {
		if (spans[i].start < end)
			spans[i].start = end;
		if (spans[i].start >= spans[i].end)
			continue;
		end = spans[i].end;
		err = add_gaps(set, spans[i], &at);
	}
	free(spans);
	return err;
}

int heap_set_sort(struct heap_set *set)
{
	size_t kept = 0;
	int err = 0;

	if (set->cnt)
		qsort(set->maps, set->cnt, sizeof(*set->maps), by_begin);
	for (size_t i = 0; i < set->cnt; i++) {
		struct heap_map *map = &set->maps[i];

		if (!kept || set->maps[kept - 1].end <= heap_map_begin(map)) {
			set->maps[kept++] = *map;
			continue;
		}
		if (heap_set_add_unknown(set, heap_map_begin(map), map->end))
			err = -ENOMEM;
		heap_map_deinit(map);
	}
	set->cnt = kept;
	return err ? err : sort_unknown(set);
}

struct heap_map *heap_set_find(const struct heap_set *set, uint64_t addr)
{
	size_t upto = bisect_upto(set->maps, set->cnt, start, addr);
	struct heap_map *map = upto ? &set->maps[upto - 1] : NULL;

	return map && addr < map->tail ? map : NULL;
}

bool heap_set_overlaps(const struct heap_set *set, uint64_t start, uint64_t end)
{
	size_t below = bisect_below(set->maps, set->cnt, start, end);

	/*
	 * bisect_below() compares only map->start. A map with a heap_info begins before map->start,
	 * so also check the next map.
	 */
	return (below && set->maps[below - 1].end > start) ||
	       (below < set->cnt && heap_map_begin(&set->maps[below]) < end);
}

bool heap_set_is_unknown(const struct heap_set *set, uint64_t addr)
{
	size_t upto = bisect_upto(set->unknown, set->unknown_cnt, start, addr);

	return upto && addr < set->unknown[upto - 1].end;
}

void heap_set_deinit(struct heap_set *set)
{
	for (size_t i = 0; i < set->cnt; i++)
		heap_map_deinit(&set->maps[i]);
	free(set->maps);
	free(set->unknown);
	*set = (struct heap_set){0};
}
