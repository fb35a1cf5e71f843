// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the blocks of each site by thread, and makes a site of each run. */
#include "report/thread_split.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"

static int by_site_and_thread(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->age_ns != y->age_ns)
		return x->age_ns > y->age_ns ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* Where the run ends that begins at first. */
static size_t run_end(const struct snapshot *snap, size_t first)
{
	size_t end = first + 1;

	while (end < snap->block_cnt && snap->blocks[end].site == snap->blocks[first].site &&
	       snap->blocks[end].tid == snap->blocks[first].tid)
		end++;
	return end;
}

/*
 * Of each site, the age from which on the last snapshot had its blocks: those were its oldest.
 * From malloc; NULL: no memory.
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

/* What is older than kept_ns the last snapshot had, so long before. */
static void add_age(struct site *site, const struct block *block, uint64_t kept_ns,
		    uint64_t before_ns)
{
	ages_add(&site->ages, block->age_ns, block->size);
	if (block->age_ns >= kept_ns && block->age_ns >= before_ns)
		site->kept[age_class(block->age_ns - before_ns)]++;
}

static struct site site_of_run(const struct snapshot *snap, size_t first, size_t end,
			       uint64_t kept_ns, uint64_t before_ns)
{
	struct site site = snap->sites[snap->blocks[first].site];
	struct estimate estimate = {0};
	struct part inherited = {0};
	uint64_t bytes = 0;

	site.largest = (struct block){0};
	site.ages = (struct ages){0};
	memset(site.kept, 0, sizeof(site.kept));
	for (size_t i = first; i < end; i++) {
		const struct block *block = &snap->blocks[i];

		bytes += block->size;
		add_age(&site, block, kept_ns, before_ns);
		if (block->inherited)
			part_add(&inherited, &snap->sampling, block);
		block_take_larger(&site.largest, block);
		if (snap->sampling.mode)
			estimate_add(&estimate, &snap->sampling, block->size, block->sampled_size);
	}
	site.tid = snap->blocks[first].tid;
	site.id = hash_mix(site.id, (uint64_t)site.tid);
	site.oldest_ns = snap->blocks[first].age_ns;
	site.newest_ns = snap->blocks[end - 1].age_ns;
	site_set_sums(&site, &snap->sampling, bytes, end - first, &estimate);
	site_set_inherited(&site, &snap->sampling, &inherited);
	return site;
}

int thread_split(struct snapshot *snap, uint64_t last_ns)
{
	cleanup_free uint64_t *kept_ns = ages_kept(snap);
	struct site *sites;
	size_t cnt = 0;

	if (!kept_ns)
		return -ENOMEM;
	if (snap->block_cnt)
		qsort(snap->blocks, snap->block_cnt, sizeof(*snap->blocks), by_site_and_thread);
	for (size_t first = 0; first < snap->block_cnt; first = run_end(snap, first))
		cnt++;
	sites = calloc(cnt + 1, sizeof(*sites));
	if (!sites)
		return -ENOMEM;
	cnt = 0;
	for (size_t first = 0, end; first < snap->block_cnt; first = end) {
		end = run_end(snap, first);
		sites[cnt] = site_of_run(snap, first, end, kept_ns[snap->blocks[first].site],
					 snap->elapsed_ns - last_ns);
		for (size_t i = first; i < end; i++)
			snap->blocks[i].site = cnt;
		cnt++;
	}
	free(snap->sites);
	snap->sites = sites;
	snap->site_cnt = cnt;
	return 0;
}
