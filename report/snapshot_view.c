// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts arrays of a view in the place of a snapshot's. */
#include "report/snapshot_view.h"

#include <stdlib.h>

struct snapshot_view snapshot_view_of(const struct snapshot *snap)
{
	return (struct snapshot_view){.snap = *snap};
}

void snapshot_view_deinit(struct snapshot_view *view)
{
	free(view->own_sites);
	free(view->own_blocks);
	*view = (struct snapshot_view){0};
}

void snapshot_view_set_sites(struct snapshot_view *view, struct site *sites, size_t cnt)
{
	free(view->own_sites);
	view->snap.sites = view->own_sites = sites;
	view->snap.site_cnt = cnt;
}

void snapshot_view_set_blocks(struct snapshot_view *view, struct block *blocks, size_t cnt)
{
	free(view->own_blocks);
	view->snap.blocks = view->own_blocks = blocks;
	view->snap.block_cnt = cnt;
}
