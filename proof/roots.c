// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds root memory from mappings and stack pointers. */
#include "proof/roots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Bytes below the stack pointer where leaf functions may have data (x86-64 ABI, 3.2.2). */
#ifdef __x86_64__
#define RED_ZONE 128
#else
#define RED_ZONE 0
#endif

struct root_search {
	const struct root_ranges *heaps;
	/* index in `heaps` of the first range that may overlap the next range to add */
	size_t heap;
	uint64_t from; /* address below which the current mapping is unused */
	struct root_ranges *ret;
};

int root_ranges_add(struct root_ranges *ranges, uint64_t start, uint64_t end, uint64_t gap_bytes)
{
	struct root_range *last = ranges->cnt ? &ranges->items[ranges->cnt - 1] : NULL;

	if (start >= end)
		return 0;
	if (last && start >= last->end && start - last->end <= gap_bytes) {
		last->end = end;
		return 0;
	}
	if (array_reserve(&ranges->items, &ranges->cap, ranges->cnt + 1))
		return -ENOMEM;
	ranges->items[ranges->cnt++] = (struct root_range){start, end};
	return 0;
}

void root_ranges_deinit(struct root_ranges *ranges)
{
	free(ranges->items);
	memset(ranges, 0, sizeof(*ranges));
}

/* Adds a range of memory to the roots, except for the ranges in `heaps`. */
static int add_written(void *arg, uint64_t start, uint64_t end)
{
	struct root_search *search = arg;
	const struct root_ranges *heaps = search->heaps;
	int err = 0;

	if (start < search->from)
		start = search->from;
	while (search->heap < heaps->cnt && heaps->items[search->heap].end <= start)
		search->heap++;
	for (size_t i = search->heap; !err && i < heaps->cnt && heaps->items[i].start < end; i++) {
		if (heaps->items[i].start > start)
			err = root_ranges_add(search->ret, start, heaps->items[i].start, 0);
		start = heaps->items[i].end;
	}
	return err ? err : root_ranges_add(search->ret, start, end, 0);
}

static bool is_guard(const struct mapping *mapping)
{
	return !mapping->readable && !mapping->writable && !mapping->executable;
}

/*
 * True for the main thread's stack, and for any mapping directly above a guard mapping: it may be
 * the stack of a thread.
 */
static bool may_be_stack(const struct proc_maps *maps, const struct mapping *mapping)
{
	const struct mapping *below = mapping > maps->mappings ? mapping - 1 : NULL;

	return !strcmp(mapping->path, "[stack]") ||
	       (below && below->end == mapping->start && is_guard(below));
}

/*
 * Returns the start of the used part of a mapping. A stack is unused below the stack pointer. A
 * mapping that cannot be a stack is used as a whole.
 */
static uint64_t begin_of(const struct memory *memory, const struct thread_states *threads,
			 const struct mapping *mapping)
{
	uint64_t lowest = UINT64_MAX;

	if (!may_be_stack(&memory->maps, mapping))
		return mapping->start;
	for (size_t i = 0; i < threads->cnt; i++) {
		const struct thread_state *thread = &threads->items[i];

		/* If the stack pointer of any thread is unknown, this mapping may be its stack. */
		if (!thread->known)
			return mapping->start;
		if (thread->sp >= mapping->start && thread->sp < mapping->end &&
		    thread->sp < lowest)
			lowest = thread->sp;
	}
	if (lowest == UINT64_MAX || lowest - mapping->start <= RED_ZONE)
		return mapping->start;
	return (lowest - RED_ZONE) & ~7ULL;
}

static bool has_blocks(const struct block_index *index, const struct mapping *mapping)
{
	uint32_t first = block_index_from(index, mapping->start);

	return first < index->cnt && index->blocks[first].addr < mapping->end;
}

void root_memory_deinit(struct root_memory *roots)
{
	root_ranges_deinit(&roots->data);
	root_ranges_deinit(&roots->code);
	root_ranges_deinit(&roots->late);
}

int roots_find(const struct memory *memory, const struct thread_states *threads,
	       const struct block_index *index, const struct root_ranges *heaps,
	       struct root_memory *ret)
{
	struct root_memory roots = {0};
	struct root_search search = {.heaps = heaps};
	int err = 0;

	for_each_mapping (mapping, &memory->maps) {
		search.ret = has_blocks(index, mapping) ? &roots.late
			     : mapping->executable      ? &roots.code
							: &roots.data;
		search.from = begin_of(memory, threads, mapping);
		err = memory->ops->visit_written(memory, mapping,
						 search.from & ~(memory->page_size - 1),
						 mapping->end, add_written, &search);
		if (err)
			break;
	}
	if (err)
		root_memory_deinit(&roots);
	else
		*ret = roots;
	return err;
}
