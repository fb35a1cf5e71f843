// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the blocks of each site by thread, and makes the blocks of each thread a new site. */
#include "report/thread_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"

static int by_site_and_thread(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return ORDER(x->site, y->site) ?: ORDER(x->tid, y->tid) ?: ORDER(y->age_ns, x->age_ns)
								      ?: ORDER(x->addr, y->addr);
}

/*
 * Pointers to the blocks of a snapshot, sorted by site and thread. The order of the snapshot's own
 * blocks does not change.
 */
struct split {
	const struct snapshot *snap;
	const struct block **blocks;
};

static int sort_blocks(const struct snapshot *snap, struct split *ret)
{
	const struct block **blocks = calloc(snap->block_cnt + 1, sizeof(*blocks));

	if (!blocks)
		return -ENOMEM;
	for (size_t i = 0; i < snap->block_cnt; i++)
		blocks[i] = &snap->blocks[i];
	qsort(blocks, snap->block_cnt, sizeof(*blocks), by_site_and_thread);
	*ret = (struct split){snap, blocks};
	return 0;
}

/* Returns the end of the run of blocks of one site and thread that begins at `first`. */
static size_t run_end(const struct split *split, size_t first)
{
	const struct block *begin = split->blocks[first];
	size_t end = first + 1;

	while (end < split->snap->block_cnt && split->blocks[end]->site == begin->site &&
	       split->blocks[end]->tid == begin->tid)
		end++;
	return end;
}

/*
 * Returns, for each site, the age of its youngest block that was already in the previous snapshot;
 * AGE_UNKNOWN if the site has no such block. Only the number of blocks that were in the previous
 * snapshot is known, so the oldest blocks are assumed to be these. The caller frees the array.
 * Returns NULL if out of memory.
 */
static uint64_t *ages_kept(const struct snapshot *snap)
{
	uint64_t *ages = calloc(snap->site_cnt + 1, sizeof(*ages));
	size_t at = 0;

	for (size_t site = 0; ages && site < snap->site_cnt; site++) {
		uint64_t left = 0;

		for (size_t i = 0; i < AGE_CLASS_CNT; i++)
			left += snap->sites[site].kept[i];
		ages[site] = AGE_UNKNOWN;
		for (; at < snap->block_cnt && snap->blocks[at].site == site; at++)
			if (left && left--)
				ages[site] = snap->blocks[at].age_ns;
	}
	return ages;
}

/*
 * Adds a block to the `ages` of a site, and to `kept` if the block was in the previous snapshot.
 * That snapshot was made before_ns ago, and already had those blocks of the site whose age is now
 * at least kept_ns.
 */
static void add_age(struct site *site, const struct block *block, uint64_t kept_ns,
		    uint64_t before_ns)
{
	ages_add(&site->ages, block->age_ns, block->size);
	if (block->age_ns >= kept_ns && block->age_ns >= before_ns)
		site->kept[age_class(block->age_ns - before_ns)]++;
}

static void add_births(const struct split *split, size_t first, size_t end, struct ages *births)
{
	const struct snapshot *snap = split->snap;

	for (size_t i = first; i < end; i++) {
		uint64_t birth_ns = snap->elapsed_ns - split->blocks[i]->age_ns;

		ages_add_to(births, moments_before(&snap->earlier, birth_ns),
			    split->blocks[i]->size);
	}
}

static struct site site_of_run(const struct split *split, size_t first, size_t end,
			       uint64_t kept_ns, uint64_t before_ns)
{
	const struct sampling *sampling = &split->snap->sampling;
	struct site site = split->snap->sites[split->blocks[first]->site];
	struct estimate estimate = {0};
	struct part inherited = {0};
	uint64_t bytes = 0;

	/*
	 * Drop the proof results and pinned bytes, unless one thread has all blocks of the site:
	 * they are known only for all threads together.
	 */
	if (end - first < split->snap->sites[split->blocks[first]->site].count) {
		site.reach = (struct site_reach){0};
		site.pinned_bytes = 0;
	}
	site.largest = (struct block){0};
	site.ages = (struct ages){0};
	memset(site.kept, 0, sizeof(site.kept));
	for (size_t i = first; i < end; i++) {
		const struct block *block = split->blocks[i];

		bytes += block->size;
		add_age(&site, block, kept_ns, before_ns);
		if (block->inherited)
			part_add(&inherited, sampling, block);
		block_take_larger(&site.largest, block);
		if (sampling->mode)
			estimate_add(&estimate, sampling, block->size, block->sampled_size);
	}
	site.tid = split->blocks[first]->tid;
	site.id = hash_word(site.id, (uint64_t)site.tid);
	site.oldest_ns = split->blocks[first]->age_ns;
	site.newest_ns = split->blocks[end - 1]->age_ns;
	site_set_sums(&site, sampling, bytes, end - first, &estimate);
	site_set_inherited(&site, sampling, &inherited);
	return site;
}

static size_t count_runs(const struct split *split)
{
	size_t cnt = 0;

	for (size_t first = 0; first < split->snap->block_cnt; first = run_end(split, first))
		cnt++;
	return cnt;
}

/*
 * Makes a new site for each thread that has blocks of a site. If the sites of the snapshot have
 * births, stores the births of the new sites in the array `births`.
 */
static struct site *make_sites(const struct split *split, uint64_t last_ns, size_t cnt,
			       struct ages *births)
{
	const struct snapshot *snap = split->snap;
	cleanup_free uint64_t *kept_ns = ages_kept(snap);
	struct site *sites = kept_ns ? calloc(cnt + 1, sizeof(*sites)) : NULL;

	for (size_t i = 0, first = 0, end; sites && i < cnt; i++, first = end) {
		end = run_end(split, first);
		sites[i] = site_of_run(split, first, end, kept_ns[split->blocks[first]->site],
				       snap->elapsed_ns - last_ns);
		if (!sites[i].births)
			continue;
		add_births(split, first, end, &births[i]);
		sites[i].births = &births[i];
	}
	return sites;
}

/* Returns copies of the blocks, with `site` set to the index of the new site. */
static struct block *make_blocks(const struct split *split)
{
	size_t cnt = split->snap->block_cnt, site = 0;
	struct block *blocks = calloc(cnt + 1, sizeof(*blocks));

	for (size_t first = 0, end; blocks && first < cnt; first = end, site++) {
		end = run_end(split, first);
		for (size_t i = first; i < end; i++) {
			blocks[i] = *split->blocks[i];
			blocks[i].site = site;
		}
	}
	return blocks;
}

static bool has_births(const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->site_cnt; i++)
		if (snap->sites[i].births)
			return true;
	return false;
}

int thread_split(struct snapshot_view *view, uint64_t last_ns, bool with_blocks)
{
	bool with_births = has_births(&view->snap);
	struct split split;
	struct ages *births;
	struct site *sites = NULL;
	struct block *blocks = NULL;
	size_t cnt;
	int err = sort_blocks(&view->snap, &split);

	if (err)
		return err;
	cnt = count_runs(&split);
	births = with_births ? calloc(cnt + 1, sizeof(*births)) : NULL;
	if (births || !with_births)
		sites = make_sites(&split, last_ns, cnt, births);
	if (sites && with_blocks)
		blocks = make_blocks(&split);
	free(split.blocks);
	if (!sites || (with_blocks && !blocks)) {
		free(sites);
		free(births);
		return -ENOMEM;
	}
	snapshot_view_set_births(view, births);
	snapshot_view_set_sites(view, sites, cnt);
	snapshot_view_set_blocks(view, blocks, with_blocks ? view->snap.block_cnt : 0);
	return 0;
}
