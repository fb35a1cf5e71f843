// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads VmallocUsed of /proc/meminfo, which on newer kernels is the size of vmalloc()'s pages. */
#include "loader/kernel/vmalloc.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"

uint64_t vmalloc_bytes(FILE *meminfo)
{
	cleanup_free char *line = NULL;
	size_t cap = 0;
	uint64_t kb;

	while (getline(&line, &cap, meminfo) > 0)
		if (sscanf(line, "VmallocUsed: %" SCNu64 " kB", &kb) == 1)
			return kb << 10;
	return 0;
}
