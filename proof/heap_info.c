// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the headers of heaps at multiples of the maximum heap size. */
#include "proof/heap_info.h"

#include <errno.h>

#define INFO_BYTES_LEAST 32U
#define INFO_BYTES_MOST 64U

/* Maximum number of addresses that one visit reads */
#define PLACES_MAX (1U << 16)

/* Maximum size in bytes of a mapping with heaps. AddressSanitizer's shadow memory is larger. */
#define MAPPING_BYTES_MAX (1ULL << 40)

bool heap_info_read(struct heap_reader *reader, uint64_t heap, struct heap_info *ret)
{
	return heap_reader_copy(reader, heap, ret, sizeof(*ret));
}

bool heap_info_is_first(uint64_t heap, uint64_t arena)
{
	return arena - heap >= INFO_BYTES_LEAST && arena - heap <= INFO_BYTES_MOST;
}

int heap_info_visit(struct heap_reader *reader, uint64_t max, heap_info_fn *visit, void *arg)
{
	size_t places_left = PLACES_MAX;
	struct heap_info info;

	for_each_mapping (mapping, &reader->memory->maps) {
		uint64_t heap = (mapping->start + max - 1) & ~(max - 1);

		if (mapping->file.ino || !mapping->readable || mapping->shared ||
		    mapping->end - mapping->start > MAPPING_BYTES_MAX)
			continue;
		for (; heap >= mapping->start && heap < mapping->end; heap += max) {
			int err = 0;

			if (!places_left--)
				return -EILSEQ;
			if (heap_info_read(reader, heap, &info))
				err = visit(arg, heap, &info);
			if (err)
				return err;
		}
	}
	return 0;
}
