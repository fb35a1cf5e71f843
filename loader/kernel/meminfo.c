// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /proc/meminfo. Kernels before 5.3 report VmallocUsed as 0. */
#include "loader/kernel/meminfo.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct kernel_memory meminfo_read(FILE *meminfo)
{
	struct kernel_memory ret = {0};
	cleanup_free char *line = NULL;
	size_t cap = 0;
	uint64_t kb;

	while (getline(&line, &cap, meminfo) > 0)
		if (sscanf(line, "SReclaimable: %" SCNu64 " kB", &kb) == 1)
			ret.reclaimable = kb << 10;
		else if (sscanf(line, "SUnreclaim: %" SCNu64 " kB", &kb) == 1)
			ret.unreclaimable = kb << 10;
		else if (sscanf(line, "VmallocUsed: %" SCNu64 " kB", &kb) == 1)
			ret.vmalloc = kb << 10;
	return ret;
}
