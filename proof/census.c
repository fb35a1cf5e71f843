// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes a census of glibc's heap: finds the arenas and their heaps, marks free chunks by following
 * lists, then visits each chunk.
 */
#include "proof/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/order.h"
#include "proof/arena_heaps.h"
#include "proof/free_lists.h"
#include "proof/heap_arena.h"

struct work {
	struct heap_reader reader;
	struct heap_arenas arenas;
	struct heap_set heaps;
	struct free_lists lists;
	size_t outside_emitted_cnt;
	census_visit_fn *visit;
	void *arg;
	struct census census;
};

static void work_deinit(struct work *work)
{
	free_lists_deinit(&work->lists);
	heap_set_deinit(&work->heaps);
	heap_arenas_deinit(&work->arenas);
	heap_reader_deinit(&work->reader);
	census_deinit(&work->census);
}

static int walk_arenas(struct work *work)
{
	for (size_t i = 0; i < work->arenas.cnt; i++) {
		struct heap_arena *arena = &work->arenas.items[i];
		bool torn;
		int err;

		/* Skip an arena from which nothing was allocated yet. */
		if (arena->top == arena->lists)
			continue;
		err = arena_heaps_walk(&work->reader, arena, &work->heaps, &torn);
		if (err == -EILSEQ) {
			work->census.skipped_cnt++;
			memset(arena->fast, 0, sizeof(arena->fast));
			continue;
		}
		if (err)
			return err;
		work->census.arena_cnt++;
		work->census.torn_cnt += torn;
	}
	return heap_set_sort(&work->heaps);
}

static int mark_free(struct work *work)
{
	int err;

	free_lists_init(&work->lists, &work->reader, &work->heaps);
	err = free_lists_mark_caches(&work->lists);
	for (size_t i = 0; i < work->arenas.cnt && !err; i++)
		for (size_t bin = 0; bin < ARENA_FAST_BINS; bin++)
			free_lists_mark_fast(&work->lists, work->arenas.items[i].fast[bin],
					     CHUNK_MIN + bin * CHUNK_ALIGN);
	return err;
}

static void count(struct census_sum *sum, uint64_t bytes)
{
	sum->bytes += bytes;
	sum->count++;
}

static int emit(struct work *work, uint64_t addr, uint64_t size, enum chunk_state state)
{
	const struct chunk chunk = {.addr = addr, .size = size, .state = state};

	count(state == CHUNK_USED   ? &work->census.used
	      : state == CHUNK_FREE ? &work->census.free_
	      : state == CHUNK_OWN  ? &work->census.own
				    : &work->census.gaps,
	      size);
	return work->visit ? work->visit(work->arg, &chunk) : 0;
}

/* Visits chunks that are outside heaps and below addr. */
static int emit_outside(struct work *work, uint64_t addr)
{
	const struct mapped_chunks *outside = &work->census.outside;
	int err = 0;

	while (!err && work->outside_emitted_cnt < outside->cnt &&
	       outside->items[work->outside_emitted_cnt].chunk.addr < addr) {
		const struct chunk *chunk = &outside->items[work->outside_emitted_cnt++].chunk;

		count(chunk->state == CHUNK_OWN ? &work->census.own : &work->census.mapped,
		      chunk->size);
		err = work->visit ? work->visit(work->arg, chunk) : 0;
	}
	return err;
}

static bool is_cache(const struct work *work, uint64_t addr)
{
	size_t at = bisect_numbers(work->lists.caches, work->lists.cache_cnt, addr);

	return at < work->lists.cache_cnt && work->lists.caches[at] == addr;
}

static int emit_chunk(struct work *work, const struct heap_map *map, uint64_t addr, uint64_t size)
{
	enum chunk_state state = CHUNK_USED;

	/* The first word of a gap belongs to the chunk before the gap. */
	if (heap_map_is_gap(map, addr))
		return emit(work, addr + CHUNK_HEADER / 2, size - CHUNK_HEADER / 2, CHUNK_UNREAD);
	if (heap_map_is_free(map, addr))
		state = CHUNK_FREE;
	else if (is_cache(work, addr))
		state = CHUNK_OWN;
	/* The data of a used chunk includes the first word of the next chunk. */
	return emit(work, addr + CHUNK_HEADER, size - CHUNK_HEADER / 2, state);
}

static int emit_heap(struct work *work, const struct heap_map *map)
{
	struct census *census = &work->census;
	uint64_t tail_bytes = map->end - map->tail;
	int err;

	if (array_reserve(&census->heaps, &census->heap_cap, census->heap_cnt + 1))
		return -ENOMEM;
	census->heaps[census->heap_cnt++] = (struct heap_range){
		.start = map->info ? map->info : map->start, .end = map->end, .main = map->main};
	err = emit_outside(work, map->start);
	if (!err && map->info)
		err = emit(work, map->info, map->start - map->info, CHUNK_OWN);
	for (uint64_t addr = map->start; addr < map->tail && !err;) {
		uint64_t next = heap_map_next(map, addr + 1);

		err = emit_chunk(work, map, addr, next - addr);
		addr = next;
	}
	if (err || tail_bytes <= CHUNK_HEADER)
		return err;
	if (map->is_top)
		census->top_bytes += tail_bytes - CHUNK_HEADER;
	return emit(work, map->tail + CHUNK_HEADER, tail_bytes - CHUNK_HEADER, CHUNK_OWN);
}

static int by_addr(const void *a, const void *b)
{
	const struct mapped_chunk *left = a, *right = b;

	return ORDER(left->chunk.addr, right->chunk.addr);
}

/*
 * Drops each entry of `outside` that overlaps a heap or an earlier entry: it is other data that
 * only looks like a chunk.
 */
static void drop_overlapping(struct work *work)
{
	struct mapped_chunks *outside = &work->census.outside;
	uint64_t end = 0;
	size_t kept = 0;

	for (size_t i = 0; i < outside->cnt; i++) {
		const struct mapped_chunk item = outside->items[i];

		if (item.start < end || heap_set_overlaps(&work->heaps, item.start, item.end))
			continue;
		end = item.end;
		outside->items[kept++] = item;
	}
	outside->cnt = kept;
}

/*
 * Adds to census.outside: main arenas, which are variables in the data of a mapped file, and large
 * blocks, which have mappings of their own.
 */
static int find_outside(struct work *work)
{
	struct mapped_chunks *outside = &work->census.outside;
	int err = mapped_chunks_find(&work->reader, outside);

	for (size_t i = 0; i < work->arenas.cnt && !err; i++) {
		const struct heap_arena *arena = &work->arenas.items[i];
		const struct mapped_chunk own = {
			.start = arena->start,
			.end = arena->end,
			.chunk = {arena->start, arena->end - arena->start, CHUNK_OWN},
		};

		if (arena->main)
			err = mapped_chunks_add(outside, &own);
	}
	if (outside->cnt)
		qsort(outside->items, outside->cnt, sizeof(*outside->items), by_addr);
	drop_overlapping(work);
	return err;
}

static int list_unread(struct work *work)
{
	struct census *census = &work->census;

	if (array_reserve(&census->unread, &census->unread_cap, work->heaps.unknown_cnt + 1))
		return -ENOMEM;
	for (size_t i = 0; i < work->heaps.unknown_cnt; i++)
		census->unread[census->unread_cnt++] = (struct heap_range){
			.start = work->heaps.unknown[i].start, .end = work->heaps.unknown[i].end};
	return 0;
}

static int take(struct work *work)
{
	int err = heap_arenas_find(&work->reader, &work->arenas);

	/*
	 * If there is no arena, the program does not use glibc's malloc(). Its mappings are then
	 * not blocks of malloc(), even if they look like large blocks.
	 */
	if (err || !work->arenas.cnt)
		return err;
	work->census.skipped_cnt = work->arenas.unread_cnt;
	err = walk_arenas(work);
	if (!err)
		err = mark_free(work);
	if (!err)
		err = find_outside(work);
	for (size_t i = 0; i < work->heaps.cnt && !err; i++)
		err = emit_heap(work, &work->heaps.maps[i]);
	work->census.cache_cnt = work->lists.cache_cnt;
	work->census.cut_cnt = work->lists.cut_cnt;
	if (!err)
		err = list_unread(work);
	return err ? err : emit_outside(work, UINT64_MAX);
}

int census_take(const struct memory *memory, census_visit_fn *visit, void *arg, struct census *ret)
{
	struct work work = {.visit = visit, .arg = arg};
	int err = heap_reader_init(&work.reader, memory);

	if (!err)
		err = take(&work);
	if (!err) {
		*ret = work.census;
		work.census = (struct census){0};
	}
	work_deinit(&work);
	return err;
}

void census_deinit(struct census *census)
{
	free(census->heaps);
	free(census->unread);
	mapped_chunks_deinit(&census->outside);
	*census = (struct census){0};
}
