// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the CPU time and memory used by memleak and its helpers. */
#include "metrics/own_cost.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "helper/helper.h"
#include "helper/starter.h"

static uint64_t resident_bytes(pid_t pid)
{
	cleanup_free char *pages_of = NULL;
	uint64_t pages;

	if (proc_read(pid, "statm", &pages_of) || sscanf(pages_of, "%*s %" SCNu64, &pages) != 1)
		return 0;
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void own_cost_read(struct own_cost *cost)
{
	uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + helper_stopped_cpu_ns() +
			  helper_cpu_ns(starter_pid());

	cost->resident_bytes = resident_bytes(getpid()) + resident_bytes(starter_pid());
	for (const struct helper *helper = helper_running(); helper; helper = helper->next) {
		cpu_ns += helper_cpu_ns(helper->pid);
		cost->resident_bytes += resident_bytes(helper->pid);
	}
	cost->cpu_seconds = (double)cpu_ns / 1e9;
}
