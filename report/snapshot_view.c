// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces arrays of a snapshot by arrays that belong to a view. */
#include "report/snapshot_view.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

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

/* Copies the sites that are not left out. Sets places[i] to the new index of site i. */
static struct site *copy_sites(const struct snapshot *snap, const bool *left_out, size_t *places,
			       size_t *ret_cnt)
{
	struct site *rest = calloc(snap->site_cnt + 1, sizeof(*rest));
	size_t cnt = 0;

	for (size_t i = 0; rest && i < snap->site_cnt; i++) {
		places[i] = cnt;
		if (!left_out[i])
			rest[cnt++] = snap->sites[i];
	}
	*ret_cnt = cnt;
	return rest;
}

static struct block *copy_blocks(const struct snapshot *snap, const bool *left_out,
				 const size_t *places, size_t *ret_cnt)
{
	struct block *rest;
	size_t cnt = 0;

	for (size_t i = 0; i < snap->block_cnt; i++)
		cnt += !left_out[snap->blocks[i].site];
	rest = calloc(cnt + 1, sizeof(*rest));
	*ret_cnt = cnt;
	cnt = 0;
	for (size_t i = 0; rest && i < snap->block_cnt; i++) {
		const struct block *block = &snap->blocks[i];

		if (left_out[block->site])
			continue;
		rest[cnt] = *block;
		rest[cnt++].site = places[block->site];
	}
	return rest;
}

int snapshot_view_leave_out(struct snapshot_view *view, const bool *left_out)
{
	const struct snapshot *snap = &view->snap;
	cleanup_free size_t *places = calloc(snap->site_cnt + 1, sizeof(*places));
	size_t site_cnt, block_cnt;
	struct site *sites;
	struct block *blocks;

	if (!places)
		return -ENOMEM;
	sites = copy_sites(snap, left_out, places, &site_cnt);
	blocks = sites ? copy_blocks(snap, left_out, places, &block_cnt) : NULL;
	if (!blocks) {
		free(sites);
		return -ENOMEM;
	}
	snapshot_view_set_sites(view, sites, site_cnt);
	snapshot_view_set_blocks(view, blocks, block_cnt);
	return 0;
}
