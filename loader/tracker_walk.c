// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes snapshots of what a BPF object tracks. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/table_walk.h"
#include "loader/tracker_figures.h"
#include "loader/tracker_recycle.h"
#include "loader/tracker_sites.h"

/* Whether a block is old enough for this report. */
static bool old_enough(const struct tracker_walk *walk, const struct tracker_owner *owner,
		       uint64_t birth_ns)
{
	const struct options *opts = walk->tracker->opts;
	uint64_t older = owner->ended && !opts->older_given ? 0 : opts->older_ns;

	if (walk->tracker->any_age)
		older = 0;
	return birth_ns <= walk->t0_ns && walk->t0_ns - birth_ns >= older;
}

static int keep_block(struct tracker_walk *walk, const struct block *block)
{
	struct block *grown;

	if (walk->block_cnt == walk->block_cap) {
		size_t cap = walk->block_cap ? walk->block_cap * 2 : 1024;

		grown = reallocarray(walk->blocks, cap, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		walk->blocks = grown;
		walk->block_cap = cap;
	}
	walk->blocks[walk->block_cnt++] = *block;
	return 0;
}

/* How old a block was when the last snapshot had it. */
static uint64_t last_age_ns(const struct tracker_walk *walk, uint64_t birth_ns)
{
	uint64_t last_ns = walk->tracker->last_t0_ns;
	bool had = birth_ns <= last_ns && last_ns - birth_ns >= walk->tracker->opts->older_ns;

	return had ? last_ns - birth_ns : AGE_UNKNOWN;
}

static int add_block(struct tracker_walk *walk, struct site_entry *entry, const struct block *block,
		     uint64_t birth_ns)
{
	const struct options *opts = walk->tracker->opts;
	struct block kept = *block;

	kept.age_ns = walk->t0_ns - birth_ns;
	site_entry_add(entry, &kept, birth_ns, last_age_ns(walk, birth_ns));
	if (walk->sampling.mode)
		estimate_add(&entry->estimate, &walk->sampling, block->size, block->sampled_size);
	if (walk->tracker->any_age || (!opts->show_allocs && opts->by != BY_THREAD))
		return 0;
	kept.site = (size_t)entry;
	return keep_block(walk, &kept);
}

int tracker_walk_add(struct tracker_walk *walk, const struct tracker_owner *owner, uint64_t site,
		     const struct block *block, uint64_t birth_ns)
{
	struct site_entry *entry;

	if (!walk->tracker->opts->combined_only && !old_enough(walk, owner, birth_ns))
		return 0;
	entry = site_table_get(&walk->tracker->sites, site);
	return entry ? add_block(walk, entry, block, birth_ns) : -ENOMEM;
}

int tracker_walk_inherit(struct tracker_walk *walk, const struct tracker_owner *owner,
			 uint64_t site, const struct block *block, uint64_t birth_ns)
{
	struct block copy = *block;
	struct site_entry *entry;

	if (!old_enough(walk, owner, birth_ns))
		return 0;
	entry = tracker_sites_heir(walk->tracker, site, owner->process->image);
	if (!entry)
		return -ENOMEM;
	copy.inherited = true;
	part_add(&entry->inherited, &walk->sampling, &copy);
	return add_block(walk, entry, &copy, birth_ns);
}

static int keep_for_heirs(struct heirs *heirs, const struct memleak_block_key *at,
			  const struct memleak_block *block)
{
	const struct heirloom heirloom = {
		.image = at->image,
		.tid = (pid_t)block->tid,
		.addr = at->addr,
		.size = block->size,
		.site = block->site,
		.birth_ns = block->birth_ns,
		.freed_ns = NEVER_NS,
	};

	if (!heirs || !inheritance_is_forebear(&heirs->inheritance, at->image))
		return 0;
	return inheritance_add(&heirs->inheritance, &heirloom);
}

static int give_to_heir(void *arg, uint32_t heir, const struct heirloom *heirloom)
{
	struct tracker_walk *walk = arg;
	const struct tracker *tracker = walk->tracker;
	const struct block plain = {
		.addr = heirloom->addr,
		.size = heirloom->size,
		.sampled_size = heirloom->size,
		.tid = heirloom->tid,
	};
	struct tracker_owner owner;

	if (!tracker->owner(tracker->arg, heir, &owner))
		return 0;
	return tracker_walk_inherit(walk, &owner, heirloom->site, &plain, heirloom->birth_ns);
}

/* After all blocks: what moved from one table to another meanwhile is met in this one. */
static int walk_heirs(struct tracker_walk *walk)
{
	struct heirs *heirs = walk->tracker->heirs;
	int err;

	if (!heirs)
		return 0;
	err = heirs_read(heirs, &walk->tracker->young);
	return err ? err : inheritance_share(&heirs->inheritance, give_to_heir, walk);
}

static int visit_block(void *arg, const void *key, const void *value)
{
	const struct memleak_block_key *at = key;
	const struct memleak_block *block = value;
	struct tracker_walk *walk = arg;
	const struct tracker *tracker = walk->tracker;
	struct block plain = {
		.addr = at->addr,
		.size = block->size,
		.sampled_size = block->size << block->halved,
		.tid = (pid_t)block->tid,
	};
	struct tracker_owner owner;

	if (keep_for_heirs(tracker->heirs, at, block))
		return -ENOMEM;
	if (!tracker->owner(tracker->arg, at->image, &owner))
		return 0;
	if (at->domain == MEMLEAK_DOMAIN_PAGE)
		plain.addr += tracker->page_offset;
	return tracker_walk_add(walk, &owner, block->site, &plain, block->birth_ns);
}

/* Of the table, where a block may be that was met before it came there. */
static int visit_table_block(void *arg, const void *key, const void *value)
{
	const struct tracker_walk *walk = arg;

	return young_blocks_met(&walk->tracker->young, key) ? 0 : visit_block(arg, key, value);
}

/* -C: the totals that the programs kept. */
static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct tracker_walk *walk = arg;
	const struct tracker *tracker = walk->tracker;
	struct tracker_owner owner;
	struct site_entry *entry;

	if (!site->total.number_of_allocs || !tracker->owner(tracker->arg, site->image, &owner))
		return 0;
	entry = site_table_get(&walk->tracker->sites, *(const uint64_t *)key);
	if (!entry)
		return -ENOMEM;
	entry->bytes += site->total.total_size + site->wide_bytes;
	entry->count += site->total.number_of_allocs;
	estimate_add_sizeless(&entry->estimate, &walk->sampling, site->total.number_of_allocs);
	return 0;
}

static int walk_tables(struct tracker_walk *walk)
{
	const struct tracker *tracker = walk->tracker;
	const struct table_walk blocks = {
		.fd = tracker->blocks_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(struct memleak_block),
		.element = visit_table_block,
		.arg = walk,
	};
	const struct table_walk sites = {
		.fd = tracker->sites_fd,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = visit_site,
		.arg = walk,
	};
	int err;

	if (tracker->opts->combined_only)
		return table_walk_run(&sites);
	if (tracker->heirs)
		inheritance_begin(&tracker->heirs->inheritance);
	err = young_blocks_walk(&walk->tracker->young, visit_block, walk);
	if (!err)
		err = table_walk_run(&blocks);
	return err ? err : walk_heirs(walk);
}

/* Names come from the kernel's memory: nothing says that they end. */
static void fill_origin(struct site_entry *entry, struct site_origin *ret)
{
	struct memleak_origin *origin = &entry->origin;

	origin->last_comm[sizeof(origin->last_comm) - 1] = '\0';
	origin->cache[sizeof(origin->cache) - 1] = '\0';
	*ret = (struct site_origin){
		.last_pid = (pid_t)origin->last_pid,
		.last_comm = origin->last_comm[0] ? origin->last_comm : NULL,
		.several_pids = origin->several_pids,
		.interrupt = entry->interrupt,
		.cache = origin->cache[0] ? origin->cache : NULL,
		.several_caches = origin->several_caches,
		.reclaimable = origin->reclaimable,
	};
}

static void fill_site(const struct tracker_walk *walk, struct site_entry *entry, struct site *ret)
{
	const struct tracker *tracker = walk->tracker;
	struct tracker_owner owner = {0};

	tracker->owner(tracker->arg, entry->image, &owner);
	*ret = (struct site){
		.id = entry->id,
		.space = tracker->space,
		.kind = (enum memleak_kind)entry->kind,
		.process = owner.process,
		.oldest_ns = AGE_UNKNOWN,
		.newest_ns = AGE_UNKNOWN,
		.frames = entry->frames,
		.frame_cnt = entry->frame_cnt,
		.end = entry->end,
		.largest = entry->largest,
		.ages = entry->ages,
	};
	memcpy(ret->kept, entry->kept, sizeof(ret->kept));
	site_set_sums(ret, &walk->sampling, entry->bytes, entry->count, &entry->estimate);
	site_set_inherited(ret, &walk->sampling, &entry->inherited);
	if (tracker->space == SPACE_KERNEL)
		fill_origin(entry, &ret->origin);
	if (tracker->opts->combined_only)
		return;
	ret->oldest_ns = walk->t0_ns - entry->oldest_birth_ns;
	ret->newest_ns = walk->t0_ns - entry->newest_birth_ns;
}

static int fill_sites(struct tracker_walk *walk, struct snapshot *snap)
{
	struct site_table *table = &walk->tracker->sites;
	int err = tracker_sites_load(walk->tracker);

	if (err)
		return err;
	snap->sites = calloc(table->cnt ? table->cnt : 1, sizeof(*snap->sites));
	if (!snap->sites)
		return -ENOMEM;
	for (size_t i = 0; i < table->slot_cnt; i++) {
		struct site_entry *entry = table->slots[i];

		if (!entry || entry->walk != table->walk || !entry->count || entry->joined)
			continue;
		entry->index = snap->site_cnt;
		fill_site(walk, entry, &snap->sites[snap->site_cnt++]);
	}
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

static void fill_blocks(struct tracker_walk *walk, struct snapshot *snap)
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

static struct sampling sampling_of(const struct options *opts)
{
	if (opts->sample_bytes)
		return (struct sampling){SAMPLING_BYTES, opts->sample_bytes};
	if (opts->sample_rate > 1)
		return (struct sampling){SAMPLING_COUNT, opts->sample_rate};
	return (struct sampling){0};
}

int tracker_walk_begin(struct tracker *tracker, struct tracker_walk *walk, struct snapshot *snap)
{
	*walk = (struct tracker_walk){
		.tracker = tracker,
		.t0_ns = clock_ns(CLOCK_MONOTONIC),
		.sampling = sampling_of(tracker->opts),
	};
	*snap = (struct snapshot){
		.t0_ns = walk->t0_ns,
		.wall_ns = (int64_t)clock_ns(CLOCK_REALTIME),
		.elapsed_ns = walk->t0_ns - tracker->start_ns,
		.sampling = walk->sampling,
	};
	site_table_begin(&tracker->sites);
	return walk_tables(walk);
}

int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap)
{
	snap->walk_ns = clock_ns(CLOCK_MONOTONIC) - snap->t0_ns;
	if (!err)
		err = fill_sites(walk, snap);
	if (!err)
		err = tracker_figures_read(walk->tracker, snap);
	if (!err)
		err = tracker_recycle(walk->tracker);
	if (err) {
		free(walk->blocks);
		walk->blocks = NULL;
		snapshot_deinit(snap);
		return err;
	}
	fill_blocks(walk, snap);
	if (!walk->tracker->any_age)
		walk->tracker->last_t0_ns = snap->t0_ns;
	return 0;
}
