// SPDX-License-Identifier: GPL-2.0-or-later
/* What any snapshot needs, whichever source made it. */
#include "loader/snapshot.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[MEMLEAK_KIND_CNT] = {
	[MEMLEAK_KIND_HEAP] = "heap",       [MEMLEAK_KIND_MMAP] = "mmap",
	[MEMLEAK_KIND_RESERVE] = "reserve", [MEMLEAK_KIND_STACK] = "stack",
	[MEMLEAK_KIND_SLAB] = "slab",       [MEMLEAK_KIND_PAGE] = "page",
	[MEMLEAK_KIND_PERCPU] = "percpu",
};

const char *kind_name(enum memleak_kind kind)
{
	return (unsigned int)kind < MEMLEAK_KIND_CNT ? kind_names[kind] : "unknown";
}

void snapshot_deinit(struct snapshot *snap)
{
	free(snap->sites);
	free(snap->blocks);
	free(snap->frame_store);
	memset(snap, 0, sizeof(*snap));
}
