// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the header of each pool: pools begin at multiples of their size. */
#include "proof/python_free.h"

#include <errno.h>
#include <sys/types.h>

#include "proof/python_names.h"
#include "proof/python_pool.h"

/* Maximum number of addresses to check for a pool; each takes about 1 µs. They span 32 GiB. */
#define PLACES_MAX (1U << 21)

struct search {
	const struct memory *memory;
	size_t places_left;
	uint64_t free_bytes;
};

static int visit_run(void *arg, uint64_t start, uint64_t end)
{
	const uint64_t mask = PYTHON_POOL_BYTES - 1;
	struct search *search = arg;
	unsigned char header[PYTHON_POOL_HEADER_BYTES];

	for (uint64_t at = (start + mask) & ~mask; at < end; at += PYTHON_POOL_BYTES) {
		uint64_t len = end - at < PYTHON_POOL_BYTES ? end - at : PYTHON_POOL_BYTES;

		if (!search->places_left--)
			return -E2BIG;
		if (search->memory->ops->read(search->memory, at, header, sizeof(header)) ==
		    (ssize_t)sizeof(header))
			search->free_bytes += python_pool_free_bytes(header, (uint32_t)len);
	}
	return 0;
}

uint64_t python_free_bytes(const struct memory *memory)
{
	struct search search = {.memory = memory, .places_left = PLACES_MAX};

	for_each_mapping (mapping, &memory->maps) {
		if (mapping->shared || mapping->file.ino || !mapping->writable ||
		    mapping->end - mapping->start > PYTHON_MAPPING_BYTES_MAX)
			continue;
		if (memory->ops->visit_written(memory, mapping, mapping->start, mapping->end,
					       visit_run, &search))
			break;
	}
	return search.free_bytes;
}
