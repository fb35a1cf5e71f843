// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes memleak's own load between two reports. */
#include "app/own_load.h"

#include <math.h>

#include "base/clock.h"
#include "metrics/own_cost.h"

static double per_second(double by, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns > begin_ns ? by * 1e9 / (double)(end_ns - begin_ns) : 0;
}

struct screen_load own_load_measure(struct own_load *before, const struct snapshot *snap)
{
	struct screen_load load = {.cpu_percent = NAN, .calls_per_s = NAN};
	struct own_cost cost;
	struct own_load now;

	own_cost_read(&cost);
	now = (struct own_load){clock_ns(CLOCK_MONOTONIC), cost.cpu_seconds, snap->elapsed_ns,
				snap->calls};
	if (before->at_ns) {
		load.cpu_percent = 100 * per_second(now.cpu_seconds - before->cpu_seconds,
						    before->at_ns, now.at_ns);
		load.calls_per_s = per_second((double)now.calls - (double)before->calls,
					      before->elapsed_ns, now.elapsed_ns);
	}
	*before = now;
	return load;
}
