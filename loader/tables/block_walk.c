// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up blocks by site, and makes the sites of a snapshot. */
#include "loader/tables/block_walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/signals.h"
#include "loader/tables/translate.h"
#include "report/snapshot_own.h"

/* Number of blocks between two calls of block_walker_stops(), which takes longer than a block. */
#define BLOCKS_PER_CHECK 1024

/* True if the report includes a block allocated at birth_ns, by --older and the baseline. */
static bool is_wanted(const struct block_walk *walk, const struct block_owner *owner,
		      uint64_t birth_ns)
{
	const struct options *opts = walk->walker->opts;
	uint64_t older = owner->ended && !opts->older_given ? 0 : opts->older_ns;

	if (walk->walker->any_age)
		older = 0;
	else if (birth_ns < walk->walker->baseline_ns)
		return false;
	return birth_ns <= walk->t0_ns && walk->t0_ns - birth_ns >= older;
}

/*
 * Updates the size of the process's largest block that the report leaves out as too young. Blocks
 * allocated after t0_ns count, too: they may have replaced blocks that were freed after t0_ns.
 */
static void note_too_young(const struct block_walk *walk, const struct block_owner *owner,
			   const struct block *block, uint64_t birth_ns)
{
	if (owner->too_young && birth_ns >= walk->walker->baseline_ns &&
	    block->size > *owner->too_young)
		*owner->too_young = block->size;
}

static int keep_block(struct block_walk *walk, const struct block *block)
{
	if (array_reserve(&walk->blocks, &walk->block_cap, walk->block_cnt + 1))
		return -ENOMEM;
	walk->blocks[walk->block_cnt++] = *block;
	return 0;
}

/*
 * Returns the age that a block had in the previous snapshot; AGE_UNKNOWN if the block was not in
 * that snapshot.
 */
static uint64_t last_age_ns(const struct block_walk *walk, uint64_t birth_ns)
{
	uint64_t last_ns = walk->walker->last_t0_ns;
	bool had = birth_ns <= last_ns && last_ns - birth_ns >= walk->walker->opts->older_ns;

	return had ? last_ns - birth_ns : AGE_UNKNOWN;
}

static int add_block(struct block_walk *walk, struct site_entry *entry, const struct block *block,
		     uint64_t birth_ns)
{
	const struct options *opts = walk->walker->opts;
	struct block kept = *block;

	kept.age_ns = walk->t0_ns - birth_ns;
	site_table_add(&walk->walker->sites, entry, &kept, birth_ns,
		       moments_before(&walk->walker->earlier, birth_ns),
		       last_age_ns(walk, birth_ns));
	if (walk->walker->blocks_have_pids)
		majority_add(&entry->owners, (uint32_t)block->tid);
	if (walk->sampling.mode)
		estimate_add(&entry->estimate, &walk->sampling, block->size, block->sampled_size);
	if (walk->walker->any_age || (!opts->show_allocs && opts->by != BY_THREAD))
		return 0;
	kept.site = (size_t)entry;
	return keep_block(walk, &kept);
}

/*
 * Keeps the block if a proof follows. A proof needs all blocks, even those that it does not judge.
 */
static int keep_for_proof(struct block_walk *walk, const struct block_owner *owner,
			  struct site_entry *entry, const struct block *block, uint64_t birth_ns,
			  bool is_reported)
{
	uint64_t before_ns = walk->walker->heaps_before_ns;

	if (!before_ns || !owner->process || walk->walker->any_age)
		return 0;
	return heap_list_add(&walk->heaps, owner->process, entry, block,
			     is_reported && birth_ns < before_ns && !block->moved);
}

int block_walk_add(struct block_walk *walk, const struct block_owner *owner, uint64_t site,
		   const struct block *block, uint64_t birth_ns)
{
	bool wanted = walk->walker->opts->combined_only || is_wanted(walk, owner, birth_ns);
	struct site_entry *entry;

	if (!wanted)
		note_too_young(walk, owner, block, birth_ns);
	if (!wanted && !walk->walker->sums_left_out && !walk->walker->heaps_before_ns)
		return 0;
	entry = site_table_get(&walk->walker->sites, site);
	if (!entry || keep_for_proof(walk, owner, entry, block, birth_ns, wanted))
		return -ENOMEM;
	if (wanted)
		return add_block(walk, entry, block, birth_ns);
	if (walk->walker->sums_left_out)
		part_add(&entry->left_out, &walk->sampling, block);
	return 0;
}

bool block_walk_takes(const struct block_walk *walk, const struct block_owner *owner,
		      uint64_t birth_ns)
{
	return is_wanted(walk, owner, birth_ns) || walk->walker->heaps_before_ns;
}

int block_walk_inherit(struct block_walk *walk, const struct block_owner *owner,
		       struct site_entry *entry, const struct block *block, uint64_t birth_ns)
{
	bool wanted = is_wanted(walk, owner, birth_ns);
	struct block copy = *block;

	if (keep_for_proof(walk, owner, entry, block, birth_ns, wanted))
		return -ENOMEM;
	if (!wanted)
		return 0;
	copy.inherited = true;
	part_add(&entry->inherited, &walk->sampling, &copy);
	return add_block(walk, entry, &copy, birth_ns);
}

/*
 * Finds the owner of a kernel site: the only process that has allocated there, or else one that has
 * allocated more than half of the blocks. Names can only be read while processes run.
 */
static void find_owner(struct site_entry *entry)
{
	const struct memleak_origin *origin = &entry->origin;
	bool is_last = origin->last_comm[0] && !origin->several_pids;
	uint32_t pid = is_last ? origin->last_pid : majority_number(&entry->owners);
	cleanup_free char *comm = NULL;

	if (pid != entry->owner_pid)
		entry->owner_comm[0] = '\0';
	entry->owner_pid = pid;
	if (!pid)
		return;
	comm = pid == origin->last_pid ? strdup(origin->last_comm) : proc_comm((pid_t)pid);
	if (comm)
		snprintf(entry->owner_comm, sizeof(entry->owner_comm), "%s", comm);
}

/*
 * Fills in the origin of a kernel site. Names are copied from kernel memory and may lack a
 * terminator.
 */
static void fill_origin(struct site_entry *entry, struct site_origin *ret)
{
	struct memleak_origin *origin = &entry->origin;

	origin->last_comm[sizeof(origin->last_comm) - 1] = '\0';
	origin->cache[sizeof(origin->cache) - 1] = '\0';
	if (!entry->image && !entry->interrupt)
		find_owner(entry);
	*ret = (struct site_origin){
		.owner_pid = (pid_t)entry->owner_pid,
		.owner_comm = entry->owner_comm[0] ? entry->owner_comm : NULL,
		.last_pid = (pid_t)origin->last_pid,
		.last_comm = origin->last_comm[0] ? origin->last_comm : NULL,
		.several_pids = origin->several_pids,
		.interrupt = entry->interrupt,
		.cache = origin->cache[0] ? origin->cache : NULL,
		.several_caches = origin->several_caches,
		.reclaimable = origin->reclaimable,
	};
}

/* Fills in all fields of a site but `ages` and `kept`. */
static void fill_site(const struct block_walk *walk, struct site_entry *entry, struct site *ret)
{
	const struct block_walker *walker = walk->walker;
	struct block_owner owner = {0};

	walker->owner(walker->arg, entry->image, &owner);
	ret->id = entry->id;
	ret->space = walker->space;
	ret->kind = kind_from(entry->kind);
	ret->process = owner.process;
	ret->oldest_ns = ret->newest_ns = AGE_UNKNOWN;
	ret->births = entry->births;
	ret->frames = entry->frames;
	ret->frame_cnt = entry->frame_cnt;
	ret->end = stack_end_from(entry->end);
	ret->largest = entry->largest;
	site_set_sums(ret, &walk->sampling, entry->bytes, entry->count, &entry->estimate);
	site_set_inherited(ret, &walk->sampling, &entry->inherited);
	if (walker->space == SPACE_KERNEL)
		fill_origin(entry, &ret->origin);
	if (walker->opts->combined_only)
		return;
	ret->oldest_ns = walk->t0_ns - entry->oldest_birth_ns;
	ret->newest_ns = walk->t0_ns - entry->newest_birth_ns;
}

int block_walk_fill(struct block_walk *walk, struct snapshot *snap)
{
	struct site_table *table = &walk->walker->sites;
	size_t cnt = 0;

	/* A snapshot has an array even without sites. */
	if (array_reserve(&table->sites, &table->site_cap, 1))
		return -ENOMEM;
	for (size_t i = 0; i < table->site_cnt; i++) {
		struct site_entry *entry = table->walked[i];

		if (!entry->count || entry->joined)
			continue;
		entry->index = cnt;
		if (cnt != i)
			table->sites[cnt] = table->sites[i];
		fill_site(walk, entry, &table->sites[cnt++]);
	}
	snap->sites = table->sites;
	snap->site_cnt = cnt;
	table->sites = NULL;
	table->site_cnt = table->site_cap = 0;
	return 0;
}

static int by_site_then_age(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	if (x->age_ns != y->age_ns)
		return x->age_ns > y->age_ns ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void fill_blocks(struct block_walk *walk, struct snapshot *snap)
{
	for (size_t i = 0; i < walk->block_cnt; i++) {
		const struct site_entry *entry = (struct site_entry *)walk->blocks[i].site;

		walk->blocks[i].site = entry->joined ? entry->joined->index : entry->index;
	}
	if (walk->block_cnt)
		qsort(walk->blocks, walk->block_cnt, sizeof(*walk->blocks), by_site_then_age);
	snap->blocks = walk->blocks;
	snap->block_cnt = walk->block_cnt;
	walk->blocks = NULL;
}

struct sampling block_walk_sampling(const struct options *opts)
{
	if (opts->max_overhead)
		return (struct sampling){0};
	if (opts->sample_bytes)
		return (struct sampling){SAMPLING_BYTES, opts->sample_bytes};
	if (opts->sample_rate > 1)
		return (struct sampling){SAMPLING_COUNT, opts->sample_rate};
	return (struct sampling){0};
}

/*
 * True if sites must count blocks by time of allocation, which takes memory. Only HTML pages need
 * this; they can also be made from recordings.
 */
static bool wants_births(const struct options *opts)
{
	return (opts->format == FORMAT_HTML || opts->listen.len || opts->record) &&
	       !opts->combined_only;
}

void block_walk_begin(struct block_walker *walker, uint64_t t0_ns, struct block_walk *walk,
		      struct snapshot *snap)
{
	*walk = (struct block_walk){
		.walker = walker,
		.t0_ns = t0_ns,
		.sampling = walker->sampling.mode ? walker->sampling
						  : block_walk_sampling(walker->opts),
	};
	*snap = (struct snapshot){
		.t0_ns = t0_ns,
		.wall_ns = clock_wall_of(t0_ns),
		.elapsed_ns = t0_ns - walker->start_ns,
		.sampling = walk->sampling,
	};
	for (size_t i = 0; i < walker->earlier.cnt; i++)
		moments_add(&snap->earlier, walker->earlier.ns[i] - walker->start_ns);
	if (walker->baseline_ns)
		snap->baseline_ns = walker->baseline_ns - walker->start_ns;
	walker->sites.has_births = wants_births(walker->opts);
	site_table_begin(&walker->sites);
}

bool block_walker_stops(const struct block_walker *walker)
{
	return walker->read_until_ns ? clock_ns(CLOCK_MONOTONIC) >= walker->read_until_ns
				     : signals_end_pending();
}

int block_walk_skips(struct block_walk *walk)
{
	if (!walk->is_late && walk->checked_cnt++ % BLOCKS_PER_CHECK == 0)
		walk->is_late = block_walker_stops(walk->walker);
	if (!walk->is_late)
		return 0;
	walk->unread++;
	return walk->walker->read_until_ns ? 1 : -EINTR;
}

int block_walk_end(struct block_walk *walk, int err, struct snapshot *snap)
{
	if (!err)
		err = snapshot_own(snap);
	if (err) {
		free(walk->blocks);
		walk->blocks = NULL;
		heap_list_deinit(&walk->heaps);
		snapshot_deinit(snap);
		return err;
	}
	fill_blocks(walk, snap);
	heap_list_move_to(&walk->heaps, walk->walker->sites.walk, snap);
	if (!walk->walker->any_age)
		walk->walker->t0_ns = snap->t0_ns;
	return 0;
}

void block_walker_reported(struct block_walker *walker, const struct snapshot *snap)
{
	walker->last_t0_ns = walker->t0_ns;
	if (walker->sites.has_births)
		moments_add(&walker->earlier, snap->t0_ns);
}
