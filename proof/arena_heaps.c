// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the heaps of an arena. Every arena but the main one has heaps, which begin at multiples of
 * the maximum heap size. Each heap begins with a heap_info, which points to the arena and to the
 * previous heap.
 */
#include "proof/arena_heaps.h"

#include <errno.h>

#include "proof/chain_guard.h"
#include "proof/heap_info.h"
#include "proof/main_heap.h"

#define WORD 8U

/*
 * Possible maximum heap sizes, in bytes. If glibc uses huge pages, the maximum is the size of four
 * huge pages.
 */
#define HEAP_MAX_LEAST (1ULL << 18)
#define HEAP_MAX_MOST (64ULL << 30)

/*
 * Returns the address of an arena's first heap, 0 if there is none. The first heap contains a
 * heap_info, followed by the arena itself. from: any address in one of the arena's heaps.
 */
static uint64_t first_heap(struct heap_reader *reader, const struct heap_arena *arena,
			   uint64_t from, uint64_t max)
{
	uint64_t heap = from & ~(max - 1);
	struct chain_guard guard = {0};
	struct heap_info info;

	for (;;) {
		if (!heap_info_read(reader, heap, &info) || info.arena != arena->addr)
			return 0;
		if (!info.previous)
			break;
		heap = info.previous;
		if ((heap & (max - 1)) || chain_guard_is_back(&guard, heap))
			return 0;
	}
	return heap_info_is_first(heap, arena->addr) ? heap : 0;
}

/*
 * True if `max` can be the maximum heap size: the heap that contains `from`, and all earlier heaps
 * of the arena, begin at multiples of `max`.
 */
static bool is_heap_max(struct heap_reader *reader, const struct heap_arena *arena, uint64_t from,
			uint64_t max)
{
	uint64_t heap = from & ~(max - 1);
	struct heap_info info;

	return heap_info_read(reader, heap, &info) && info.arena == arena->addr &&
	       info.size <= max && from - heap < info.size && first_heap(reader, arena, from, max);
}

/*
 * Returns the maximum heap size: HEAP_MAX_USUAL if is_heap_max() accepts it, else the smallest
 * power of two that it accepts, 0 if it accepts none. from: any address in one of the arena's
 * heaps.
 */
static uint64_t heap_max(struct heap_reader *reader, const struct heap_arena *arena, uint64_t from)
{
	if (is_heap_max(reader, arena, from, HEAP_MAX_USUAL))
		return HEAP_MAX_USUAL;
	for (uint64_t max = HEAP_MAX_LEAST; max <= HEAP_MAX_MOST; max *= 2)
		if (is_heap_max(reader, arena, from, max))
			return max;
	return 0;
}

/*
 * Walks one heap. In the first heap, the first chunk begins at the end of the arena or one word
 * later, depending on the version of glibc.
 */
static int walk_heap(struct heap_reader *reader, const struct heap_arena *arena, uint64_t heap,
		     uint64_t first, const struct heap_info *info, struct heap_set *set)
{
	bool is_top = arena->top >= heap && arena->top - heap < info->size;
	uint64_t start = heap + (arena->addr - first), limit = heap + info->size;
	struct heap_map map = {.info = heap, .start = start};
	int err = -EILSEQ;

	if (info->size > HEAP_MAX_MOST)
		return err;
	if (start != arena->addr)
		return heap_set_walk(set, reader, map, is_top ? HEAP_END_TOP : HEAP_END_MARK,
				     limit);
	for (size_t i = 0; i < 2 && err == -EILSEQ; i++) {
		map.start = heap_chunk_at(arena->end + i * WORD);
		err = heap_set_walk(set, reader, map, is_top ? HEAP_END_TOP : HEAP_END_MARK, limit);
	}
	return err;
}

/*
 * Adds one heap. If it shrank during the walk, walks it once more up to its new end, beyond which
 * there are no chunks any more.
 */
static int add_heap(struct heap_reader *reader, const struct heap_arena *arena, uint64_t heap,
		    uint64_t first, const struct heap_info *info, struct heap_set *set)
{
	int err = walk_heap(reader, arena, heap, first, info, set);
	struct heap_info now;

	if (err || !set->maps[set->cnt - 1].torn || !heap_info_read(reader, heap, &now) ||
	    now.size >= info->size)
		return err;
	heap_map_deinit(&set->maps[--set->cnt]);
	return walk_heap(reader, arena, heap, first, &now, set);
}

/*
 * Called for each heap of an arena. A nonzero result ends the visits. first: address of the arena's
 * first heap.
 */
typedef int heap_visit_fn(struct heap_reader *reader, const struct heap_arena *arena, uint64_t heap,
			  uint64_t first, const struct heap_info *info, struct heap_set *set);

/*
 * Visits the listed heaps of an arena. Used if its newest heap was created or unmapped after the
 * mappings were listed.
 */
static int visit_listed(struct heap_reader *reader, const struct heap_arena *arena,
			struct heap_set *set, heap_visit_fn *visit)
{
	uint64_t max = heap_max(reader, arena, arena->addr), first = arena->addr & ~(max - 1);
	struct heap_info_search search = {.reader = reader, .max = max};
	int err = max ? 0 : -EILSEQ;

	while (!err && heap_info_next(&search))
		if (search.info.arena == arena->addr)
			err = visit(reader, arena, search.heap, first, &search.info, set);
	return !err && search.is_cut ? -EILSEQ : err;
}

static int visit_heaps(struct heap_reader *reader, const struct heap_arena *arena,
		       struct heap_set *set, heap_visit_fn *visit)
{
	uint64_t max = heap_max(reader, arena, arena->top), heap, first;
	struct chain_guard guard = {0};
	int err = -EILSEQ;

	if (!max && reader->memory->changes)
		return visit_listed(reader, arena, set, visit);
	first = max ? first_heap(reader, arena, arena->top, max) : 0;
	heap = arena->top & ~(max - 1);
	while (first) {
		struct heap_info info;

		if (chain_guard_is_back(&guard, heap) || !heap_info_read(reader, heap, &info))
			return -EILSEQ;
		err = visit(reader, arena, heap, first, &info, set);
		if (err || heap == first)
			break;
		heap = info.previous;
	}
	return err;
}

static int add_unknown(struct heap_reader *reader, const struct heap_arena *arena, uint64_t heap,
		       uint64_t first, const struct heap_info *info, struct heap_set *set)
{
	return info->size > HEAP_MAX_MOST ? 0 : heap_set_add_unknown(set, heap, heap + info->size);
}

/*
 * True if the top chunk was found, and the arena's free lists are consistent (see `forward_sum` in
 * heap_map.h).
 */
static bool adds_up(const struct heap_arena *arena, const struct heap_set *heaps)
{
	uint64_t forward = arena->forward_sum, backward = arena->backward_sum;
	bool has_top = false;

	for (size_t i = 0; i < heaps->cnt; i++) {
		forward += heaps->maps[i].forward_sum;
		backward += heaps->maps[i].backward_sum;
		has_top |= heaps->maps[i].is_top && heaps->maps[i].tail == arena->top;
	}
	return has_top && forward == backward;
}

static int take_over(struct heap_set *set, struct heap_set *from)
{
	int err = 0;

	while (from->cnt && !err) {
		err = heap_set_add(set, &from->maps[from->cnt - 1]);
		if (!err)
			from->cnt--;
	}
	return err;
}

int arena_heaps_walk(struct heap_reader *reader, const struct heap_arena *arena,
		     struct heap_set *set, bool *ret_torn)
{
	struct heap_set heaps = {0};
	int err, add_err = 0;

	if (arena->main)
		err = main_heap_walk(reader, arena, &heaps);
	else
		err = visit_heaps(reader, arena, &heaps, add_heap);
	*ret_torn = !err && !adds_up(arena, &heaps);
	if (*ret_torn && !reader->memory->changes)
		err = -EILSEQ;
	if (!err)
		add_err = take_over(set, &heaps);
	else if (err == -EILSEQ && arena->main)
		add_err = main_heap_add_unknown(reader, arena, set);
	else if (err == -EILSEQ)
		add_err = visit_heaps(reader, arena, set, add_unknown);
	heap_set_deinit(&heaps);
	return add_err ? add_err : err;
}
