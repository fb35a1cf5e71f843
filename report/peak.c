// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a peak from those sites of a snapshot that hold memory. */
#include "report/peak.h"

#include <stdlib.h>

struct peak peak_from(struct snapshot *snap)
{
	struct peak peak = {
		.wall_ns = snap->wall_ns,
		.t0_ns = snap->t0_ns,
		.sites = snap->sites,
		.arena = snap->arena,
	};

	for (size_t i = 0; i < snap->site_cnt; i++) {
		struct site *site = &peak.sites[peak.site_cnt];

		if (!site_is_memory(&snap->sites[i]))
			continue;
		*site = snap->sites[i];
		site->oldest_ns = AGE_UNKNOWN;
		site->newest_ns = AGE_UNKNOWN;
		peak.bytes += site->bytes;
		peak.count += site->count;
		peak.site_cnt++;
	}
	snap->sites = NULL;
	snap->arena = (struct arena){0};
	snapshot_deinit(snap);
	return peak;
}

void peak_deinit(struct peak *peak)
{
	free(peak->sites);
	arena_deinit(&peak->arena);
	*peak = (struct peak){0};
}
