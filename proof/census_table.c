// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds up chunks by size, and counts the pages of heaps. */
#include "proof/census_table.h"

#include "base/bisect.h"

void census_table_add(struct heap_census *table, const struct chunk *chunk, bool is_known)
{
	if (chunk->state == CHUNK_FREE)
		heap_census_add(table, chunk->size, HEAP_FREE);
	else if (chunk->state == CHUNK_USED)
		heap_census_add(table, chunk->size, is_known ? HEAP_KNOWN : HEAP_OLDER);
}

/* State while counting pages of heaps in ascending order. */
struct counting {
	const struct memory *memory;
	struct heap_census *table;
	/*
	 * end address of the last counted page: adjacent chunks may share a page, which must be
	 * counted once
	 */
	uint64_t counted_end;
};

static int count_run(void *arg, uint64_t start, uint64_t end)
{
	struct counting *counting = arg;

	counting->table->present_bytes += end - start;
	return 0;
}

static int count_pages(struct counting *counting, uint64_t start, uint64_t end)
{
	const struct memory *memory = counting->memory;
	const struct proc_maps *maps = &memory->maps;
	const uint64_t page_mask = memory->page_size - 1;
	size_t at;
	int err = 0;

	counting->table->heap_bytes += end - start;
	start &= ~page_mask;
	end = (end + page_mask) & ~page_mask;
	if (start < counting->counted_end)
		start = counting->counted_end;
	at = bisect_upto(maps->mappings, maps->cnt, end, start);
	for (; !err && at < maps->cnt && maps->mappings[at].start < end; at++) {
		const struct mapping *mapping = &maps->mappings[at];

		err = memory->ops->visit_written(
			memory, mapping, mapping->start > start ? mapping->start : start,
			mapping->end < end ? mapping->end : end, count_run, counting);
	}
	if (counting->counted_end < end)
		counting->counted_end = end;
	return err;
}

int census_table_finish(struct heap_census *table, const struct census *census,
			const struct memory *memory)
{
	struct counting heaps = {.memory = memory, .table = table}, mapped = heaps;
	int err = 0;

	table->processes++;
	table->without_heap += !census->arena_cnt && !census->skipped_cnt;
	table->arenas += census->arena_cnt;
	table->skipped_arenas += census->skipped_cnt;
	table->cut_lists += census->cut_cnt;
	table->spare_bytes += census->top_bytes;
	for (size_t i = 0; !err && i < census->heap_cnt; i++)
		err = count_pages(&heaps, census->heaps[i].start, census->heaps[i].end);
	for (size_t i = 0; !err && i < census->outside.cnt; i++) {
		const struct mapped_chunk *item = &census->outside.items[i];

		/* Skip main arenas: they are variables in the data of a mapped file. */
		if (item->chunk.state == CHUNK_USED)
			err = count_pages(&mapped, item->start, item->end);
	}
	return err;
}
