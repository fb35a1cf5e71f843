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
	free(view->own_births);
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

void snapshot_view_set_births(struct snapshot_view *view, struct ages *births)
{
	free(view->own_births);
	view->own_births = births;
}

/* Copies the sites that are not left out. Sets new_index[i] to the index of the copy of site i. */
static struct site *copy_sites(const struct snapshot *snap, const bool *left_out, size_t *new_index,
			       size_t *ret_cnt)
{
	struct site *kept = calloc(snap->site_cnt + 1, sizeof(*kept));
	size_t cnt = 0;

	for (size_t i = 0; kept && i < snap->site_cnt; i++) {
		new_index[i] = cnt;
		if (!left_out[i])
			kept[cnt++] = snap->sites[i];
	}
	*ret_cnt = cnt;
	return kept;
}

static struct block *copy_blocks(const struct snapshot *snap, const bool *left_out,
				 const size_t *new_index, size_t *ret_cnt)
{
	struct block *kept;
	size_t cnt = 0;

	for (size_t i = 0; i < snap->block_cnt; i++)
		cnt += !left_out[snap->blocks[i].site];
	kept = calloc(cnt + 1, sizeof(*kept));
	*ret_cnt = cnt;
	cnt = 0;
	for (size_t i = 0; kept && i < snap->block_cnt; i++) {
		const struct block *block = &snap->blocks[i];

		if (left_out[block->site])
			continue;
		kept[cnt] = *block;
		kept[cnt++].site = new_index[block->site];
	}
	return kept;
}

int snapshot_view_leave_out(struct snapshot_view *view, const bool *left_out)
{
	const struct snapshot *snap = &view->snap;
	cleanup_free size_t *new_index = calloc(snap->site_cnt + 1, sizeof(*new_index));
	size_t site_cnt, block_cnt;
	struct site *sites;
	struct block *blocks;

	if (!new_index)
		return -ENOMEM;
	sites = copy_sites(snap, left_out, new_index, &site_cnt);
	blocks = sites ? copy_blocks(snap, left_out, new_index, &block_cnt) : NULL;
	if (!blocks) {
		free(sites);
		return -ENOMEM;
	}
	snapshot_view_set_sites(view, sites, site_cnt);
	snapshot_view_set_blocks(view, blocks, block_cnt);
	return 0;
}
