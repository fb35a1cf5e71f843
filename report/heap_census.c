// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds up a census of heaps, by size and use. */
#include "report/heap_census.h"

uint64_t heap_class_upto(size_t class)
{
	return class + 1 < HEAP_CLASSES ? 1ULL << (HEAP_CLASS_BITS_MIN + class) : UINT64_MAX;
}

static void add_sum(struct reach_sum *sum, const struct reach_sum *part)
{
	sum->bytes += part->bytes;
	sum->count += part->count;
}

size_t heap_class_of(uint64_t size)
{
	size_t class = 0;

	while (size > heap_class_upto(class))
		class ++;
	return class;
}

void heap_census_add(struct heap_census *census, uint64_t size, enum heap_use use)
{
	add_sum(&census->classes[heap_class_of(size)][use], &(struct reach_sum){size, 1});
}

void heap_census_join(struct heap_census *census, const struct heap_census *part)
{
	for (size_t i = 0; i < HEAP_CLASSES; i++)
		for (size_t use = 0; use < HEAP_USE_CNT; use++)
			add_sum(&census->classes[i][use], &part->classes[i][use]);
	add_sum(&census->elsewhere, &part->elsewhere);
	census->processes += part->processes;
	census->without_heap += part->without_heap;
	census->requested_bytes += part->requested_bytes;
	census->arenas += part->arenas;
	census->skipped_arenas += part->skipped_arenas;
	census->cut_lists += part->cut_lists;
	census->heap_bytes += part->heap_bytes;
	census->spare_bytes += part->spare_bytes;
	census->present_bytes += part->present_bytes;
	census->memory.anonymous += part->memory.anonymous;
	census->memory.file += part->memory.file;
	census->memory.shared += part->memory.shared;
	census->memory.swapped += part->memory.swapped;
}

size_t heap_census_cnt(const struct heap_census *census)
{
	size_t cnt = HEAP_CLASSES;

	while (cnt) {
		const struct reach_sum *of = census->classes[cnt - 1];

		if (of[HEAP_KNOWN].count || of[HEAP_OLDER].count || of[HEAP_FREE].count)
			break;
		cnt--;
	}
	return cnt;
}

struct reach_sum heap_census_all(const struct heap_census *census, enum heap_use use)
{
	struct reach_sum all = {0};

	for (size_t i = 0; i < HEAP_CLASSES; i++)
		add_sum(&all, &census->classes[i][use]);
	return all;
}

/*
 * Subtracts; returns 0 instead of a negative result, because the numbers in a recording may be
 * inconsistent.
 */
static uint64_t subtract_to_zero(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

uint64_t heap_census_own(const struct heap_census *census)
{
	uint64_t remaining = census->heap_bytes;

	for (size_t use = 0; use < HEAP_USE_CNT; use++)
		remaining = subtract_to_zero(remaining,
					     heap_census_all(census, (enum heap_use)use).bytes);
	return remaining;
}

uint64_t memory_use_resident(const struct memory_use *use)
{
	return use->anonymous + use->file + use->shared;
}

uint64_t heap_census_other(const struct heap_census *census)
{
	return subtract_to_zero(census->memory.anonymous + census->memory.swapped,
				census->present_bytes);
}
