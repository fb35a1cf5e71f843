// SPDX-License-Identifier: GPL-2.0-or-later
/* What memleak itself has used, by the kernel's account. */
#include "metrics/own_cost.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "loader/cleanup.h"
#include "loader/clock.h"

static uint64_t resident_bytes(void)
{
	cleanup_fclose FILE *in = fopen("/proc/self/statm", "re");
	uint64_t pages;

	if (!in || fscanf(in, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void own_cost_read(struct own_cost *cost)
{
	cost->cpu_seconds = (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	cost->resident_bytes = resident_bytes();
}
