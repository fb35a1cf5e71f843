// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes snapshots from the tables of a BPF object. */
#include "loader/tables/tracker_walk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/reading.h"
#include "loader/tables/moved_blocks.h"
#include "loader/tables/table_walk.h"
#include "loader/tables/tracker_sites.h"
#include "loader/tables/tracker_stats.h"

/* Number of blocks that are read between two calls of moved_blocks_copy(). */
#define BLOCKS_PER_COPY 1024

/*
 * Makes the BPF programs read the clock again. Otherwise, until the next kernel tick, a program
 * uses the time that was last read on its CPU.
 */
static void renew_clocks(const struct tracker *tracker)
{
	const struct bpf_map *map =
		tracker->object ? bpf_object__find_map_by_name(tracker->object, "cpu_clocks")
				: NULL;
	int cpus = libbpf_num_possible_cpus();
	cleanup_free void *none = NULL;
	uint32_t zero = 0;

	if (!map || bpf_map__fd(map) < 0 || cpus < 0)
		return;
	none = calloc((size_t)cpus, bpf_map__value_size(map));
	if (none)
		bpf_map_update_elem(bpf_map__fd(map), &zero, none, BPF_ANY);
}

void tracker_start(struct tracker *tracker)
{
	tracker_stats_start(tracker);
	tracker->walker.start_ns = clock_ns(CLOCK_MONOTONIC);
	if (tracker->walker.opts->warmup_ns)
		tracker_set_baseline(tracker,
				     tracker->walker.start_ns + tracker->walker.opts->warmup_ns);
}

uint64_t tracker_set_baseline(struct tracker *tracker, uint64_t baseline_ns)
{
	if (baseline_ns > tracker->walker.baseline_ns)
		tracker->walker.baseline_ns = baseline_ns;
	renew_clocks(tracker);
	return baseline_ns - tracker->walker.start_ns;
}

int tracker_walk_add(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
		     const struct block *block, uint64_t birth_ns)
{
	struct block weighed = *block;
	int err = 0;

	if (walk->blocks.sampling.mode == SAMPLING_STEPS)
		err = tracker_sites_weigh(walk->tracker, site, &weighed);
	return err ? err : block_walk_add(&walk->blocks, owner, site, &weighed, birth_ns);
}

int tracker_walk_inherit(struct tracker_walk *walk, const struct block_owner *owner, uint64_t site,
			 const struct block *block, uint64_t birth_ns)
{
	struct site_entry *entry;

	if (!block_walk_takes(&walk->blocks, owner, birth_ns))
		return 0;
	entry = tracker_sites_descendant(walk->tracker, site, owner->process->image);
	return entry ? block_walk_inherit(&walk->blocks, owner, entry, block, birth_ns) : -ENOMEM;
}

static int keep_for_descendants(struct descendants *descendants, const struct memleak_block_key *at,
				const struct memleak_block *block)
{
	const struct inherited_block inherited_block = {
		.image = at->image,
		.tid = (pid_t)block__tid(block),
		.addr = at->addr,
		.size = block->size,
		.site = block->site,
		.birth_ns = block->birth_ns,
		.freed_ns = NEVER_NS,
	};

	if (!descendants || !inheritance_is_ancestor(&descendants->inheritance, at->image))
		return 0;
	return inheritance_add(&descendants->inheritance, &inherited_block);
}

static int add_to_descendant(void *arg, uint32_t descendant,
			     const struct inherited_block *inherited_block)
{
	struct tracker_walk *walk = arg;
	const struct tracker *tracker = walk->tracker;
	const struct block plain = {
		.addr = inherited_block->addr,
		.size = inherited_block->size,
		.sampled_size = inherited_block->size,
		.tid = inherited_block->tid,
	};
	struct block_owner owner;

	if (!tracker->walker.owner(tracker->walker.arg, descendant, &owner))
		return 0;
	return tracker_walk_inherit(walk, &owner, inherited_block->site, &plain,
				    inherited_block->birth_ns);
}

/*
 * Adds the inherited blocks of descendants. Called after all other blocks were read: a block that
 * an ancestor frees in the meantime is in the tables of freed blocks, which are read here.
 */
static int walk_descendants(struct tracker_walk *walk)
{
	struct descendants *descendants = walk->tracker->descendants;
	int err;

	if (!descendants)
		return 0;
	err = descendants_read(descendants, &walk->tracker->recent);
	return err ? err : inheritance_share(&descendants->inheritance, add_to_descendant, walk);
}

static int take_block(struct tracker_walk *walk, const struct memleak_block_key *at,
		      const struct memleak_block *block, bool moved)
{
	const struct tracker *tracker = walk->tracker;
	struct block plain = {
		.addr = at->addr,
		.size = block->size,
		.sampled_size = block->size << block->halved,
		.tid = (pid_t)block__tid(block),
		.moved = moved,
	};
	struct block_owner owner;

	if (keep_for_descendants(tracker->descendants, at, block))
		return -ENOMEM;
	if (!tracker->walker.owner(tracker->walker.arg, at->image, &owner) ||
	    (tracker->is_gone && tracker->is_gone(tracker->walker.arg, at, block)))
		return 0;
	if (at->domain == MEMLEAK_DOMAIN_PAGE)
		plain.addr += tracker->page_offset;
	return tracker_walk_add(walk, &owner, block->site, &plain, block->birth_ns);
}

/*
 * True if realloc() stored the block again during this walk, which must skip it: end_reading() adds
 * it, unless the walk had visited it before.
 */
static bool was_moved(const struct tracker_walk *walk, const struct memleak_block *block)
{
	const struct tracker *tracker = walk->tracker;

	return tracker->reading && block__reading(block) == tracker->reading_number;
}

/* True if the block was moved after the pictures (copies) of memory, but before this walk. */
static bool moved_before(const struct tracker_walk *walk, const struct memleak_block *block)
{
	uint32_t number = walk->tracker->picture_number;

	return number && block__reading(block) == number;
}

static int visit_block(void *arg, const void *key, const void *value)
{
	struct tracker_walk *walk = arg;

	if (was_moved(walk, value))
		return 0;
	return moved_blocks_add_read(&walk->moved, key, value)
		       ?: take_block(walk, key, value, moved_before(walk, value));
}

static int take_moved(void *arg, const struct memleak_handed *handed)
{
	return take_block(arg, &handed->key, &handed->block, true);
}

static uint32_t next_number(struct tracker *tracker)
{
	bool first = tracker->reading_number < MEMLEAK_READING_FIRST ||
		     tracker->reading_number == MEMLEAK_READING_LAST;

	tracker->reading_number = first ? MEMLEAK_READING_FIRST : tracker->reading_number + 1;
	return tracker->reading_number;
}

static void set_picture(struct tracker *tracker, uint32_t number)
{
	tracker->picture_number = number;
	if (tracker->reading)
		__atomic_store_n(&tracker->reading->picture, number, __ATOMIC_SEQ_CST);
}

void tracker_expect_pictures(struct tracker *tracker)
{
	set_picture(tracker, next_number(tracker));
}

void tracker_forget_pictures(struct tracker *tracker)
{
	set_picture(tracker, 0);
}

/*
 * Blocks that were allocated after t0 are not reported, but may matter to a proof. Renews the
 * clocks: a block that is reallocated would otherwise be reported although it was allocated after
 * t0, in the same tick.
 */
static void begin_reading(struct tracker_walk *walk)
{
	struct tracker *tracker = walk->tracker;
	uint64_t until_ns = tracker->picture_number ? UINT64_MAX : walk->blocks.t0_ns;

	if (tracker->reading)
		renew_clocks(tracker);
	moved_blocks_begin(&walk->moved, tracker->reading, next_number(tracker), until_ns);
}

static int end_reading(struct tracker_walk *walk)
{
	int err = moved_blocks_end(&walk->moved, take_moved, walk);

	walk->unread += walk->moved.lost;
	return err;
}

/*
 * Visits a block of the table, unless the block was visited in the cache before it moved to the
 * table.
 */
static int visit_table_block(void *arg, const void *key, const void *value)
{
	struct tracker_walk *walk = arg;
	int err = ++walk->table_cnt % BLOCKS_PER_COPY ? 0 : moved_blocks_copy(&walk->moved);

	if (err || recent_blocks_visited(&walk->tracker->recent, key))
		return err;
	return visit_block(arg, key, value);
}

static bool stops(void *arg)
{
	const struct tracker_walk *walk = arg;

	return block_walker_stops(&walk->tracker->walker);
}

/* Counts the blocks in the tables that the walk has not read. */
static uint64_t count_unread(const struct tracker_walk *walk)
{
	const struct descendants *descendants = walk->tracker->descendants;
	uint64_t in_cache, held,
		read = walk->table_cnt + (descendants ? descendants->freed_cnt : 0);

	recent_blocks_count(&walk->tracker->recent, &in_cache, &held);
	return held > read ? held - read : 1;
}

static int walk_blocks(struct tracker_walk *walk)
{
	const struct tracker *tracker = walk->tracker;
	int err = block_tables_walk(&tracker->blocks, visit_table_block, stops, walk);

	if (err != -ECANCELED)
		return err;
	if (!tracker->walker.read_until_ns)
		return -EINTR;
	walk->unread += count_unread(walk);
	return 0;
}

/*
 * Reads the totals of a site, for -C. Only with -C do these totals include all blocks; without -C,
 * they lack the blocks in the recent-block cache.
 */
static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct tracker_walk *walk = arg;
	const struct tracker *tracker = walk->tracker;
	struct block_owner owner;
	struct site_entry *entry;

	if (!site->total.number_of_allocs ||
	    !tracker->walker.owner(tracker->walker.arg, site->image, &owner))
		return 0;
	entry = site_table_get(&walk->tracker->walker.sites, *(const uint64_t *)key);
	if (!entry)
		return -ENOMEM;
	entry->bytes += site->total.total_size + site->wide_bytes;
	entry->count += site->total.number_of_allocs;
	estimate_add_sizeless(&entry->estimate, &walk->blocks.sampling,
			      site->total.number_of_allocs);
	return 0;
}

static int walk_tables(struct tracker_walk *walk)
{
	struct tracker *tracker = walk->tracker;
	const struct table_walk sites = {
		.fd = tracker->sites_fd,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = visit_site,
		.arg = walk,
	};
	int err;

	if (tracker->walker.opts->combined_only)
		return table_walk_run(&sites);
	if (tracker->descendants)
		inheritance_begin(&tracker->descendants->inheritance);
	begin_reading(walk);
	err = recent_blocks_walk(&tracker->recent,
				 tracker->reading ? &tracker->reading->read_cnt : NULL, visit_block,
				 walk);
	if (!err)
		err = walk_blocks(walk);
	if (!err)
		err = end_reading(walk);
	moved_blocks_deinit(&walk->moved);
	return err ? err : walk_descendants(walk);
}

int tracker_walk_begin(struct tracker *tracker, uint64_t t0_ns, struct tracker_walk *walk,
		       struct snapshot *snap)
{
	*walk = (struct tracker_walk){.tracker = tracker};
	block_walk_begin(&tracker->walker, t0_ns, &walk->blocks, snap);
	return walk_tables(walk);
}

int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap)
{
	snap->walk_ns = clock_ns(CLOCK_MONOTONIC) - snap->t0_ns;
	if (!err)
		err = tracker_sites_load(walk->tracker);
	if (!err)
		err = block_walk_fill(&walk->blocks, snap);
	if (!err)
		err = tracker_stats_read(walk->tracker, snap);
	snap->lost[LOSS_UNREAD] = walk->unread;
	return block_walk_end(&walk->blocks, err, snap);
}

int tracker_reported(struct tracker *tracker, const struct snapshot *snap)
{
	block_walker_reported(&tracker->walker, snap);
	return stack_table_evict(&tracker->stacks, &tracker->recent);
}
