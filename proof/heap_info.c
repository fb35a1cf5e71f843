// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the headers of heaps at multiples of the maximum heap size. */
#include "proof/heap_info.h"

#include "base/bisect.h"

#define INFO_BYTES_LEAST 32U
#define INFO_BYTES_MOST 64U

/* Maximum number of addresses that one search reads */
#define PLACES_MAX (1U << 16)

/*
 * Maximum size in bytes of a mapping that is searched for heaps: excludes the shadow memory of
 * AddressSanitizer.
 */
#define MAPPING_BYTES_MAX (1ULL << 40)

bool heap_info_read(struct heap_reader *reader, uint64_t heap, struct heap_info *ret)
{
	return heap_reader_copy(reader, heap, ret, sizeof(*ret));
}

bool heap_info_is_first(uint64_t heap, uint64_t arena)
{
	return arena - heap >= INFO_BYTES_LEAST && arena - heap <= INFO_BYTES_MOST;
}

bool heap_info_next(struct heap_info_search *search)
{
	const struct proc_maps *maps = &search->reader->memory->maps;
	uint64_t max = search->max, from = search->heap + max;

	for (size_t i = bisect_upto(maps->mappings, maps->cnt, end, from); i < maps->cnt; i++) {
		const struct mapping *mapping = &maps->mappings[i];
		uint64_t heap = mapping->start > from ? mapping->start : from;

		if (mapping->file.ino || !mapping->readable || mapping->shared ||
		    mapping->end - mapping->start > MAPPING_BYTES_MAX)
			continue;
		heap = (heap + max - 1) & ~(max - 1);
		for (; heap >= mapping->start && heap < mapping->end; heap += max) {
			if (search->place_cnt++ == PLACES_MAX) {
				search->is_cut = true;
				return false;
			}
			if (!heap_info_read(search->reader, heap, &search->info))
				continue;
			search->heap = heap;
			return true;
		}
	}
	return false;
}
