// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes snapshots of what a BPF object tracks. */
#include "loader/tables/tracker_walk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/reading.h"
#include "loader/tables/table_walk.h"
#include "loader/tables/tracker_sites.h"
#include "loader/tables/tracker_stats.h"
#include "loader/tables/translate.h"
#include "report/snapshot_own.h"

/* Has the programs read the clock again: until the next tick they would go by the last one. */
static void renew_clocks(const struct tracker *tracker)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(tracker->object, "cpu_clocks");
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
	tracker->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (tracker->opts->warmup_ns)
		tracker_set_baseline(tracker, tracker->start_ns + tracker->opts->warmup_ns);
}

uint64_t tracker_set_baseline(struct tracker *tracker, uint64_t baseline_ns)
{
	if (baseline_ns > tracker->baseline_ns)
		tracker->baseline_ns = baseline_ns;
	renew_clocks(tracker);
	return baseline_ns - tracker->start_ns;
}

/* Whether a block is old enough for this report, and no older than is wanted. */
static bool is_wanted(const struct tracker_walk *walk, const struct tracker_owner *owner,
		      uint64_t birth_ns)
{
	const struct options *opts = walk->tracker->opts;
	uint64_t older = owner->ended && !opts->older_given ? 0 : opts->older_ns;

	if (walk->tracker->any_age)
		older = 0;
	else if (birth_ns < walk->tracker->baseline_ns)
		return false;
	return birth_ns <= walk->t0_ns && walk->t0_ns - birth_ns >= older;
}

static int keep_block(struct tracker_walk *walk, const struct block *block)
{
	if (array_reserve(&walk->blocks, &walk->block_cap, walk->block_cnt + 1))
		return -ENOMEM;
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
	bool wanted = walk->tracker->opts->combined_only || is_wanted(walk, owner, birth_ns);
	struct site_entry *entry;

	if (!wanted && !walk->tracker->sums_left_out)
		return 0;
	entry = site_table_get(&walk->tracker->sites, site);
	if (!entry)
		return -ENOMEM;
	if (wanted)
		return add_block(walk, entry, block, birth_ns);
	part_add(&entry->left_out, &walk->sampling, block);
	return 0;
}

int tracker_walk_inherit(struct tracker_walk *walk, const struct tracker_owner *owner,
			 uint64_t site, const struct block *block, uint64_t birth_ns)
{
	struct block copy = *block;
	struct site_entry *entry;

	if (!is_wanted(walk, owner, birth_ns))
		return 0;
	entry = tracker_sites_descendant(walk->tracker, site, owner->process->image);
	if (!entry)
		return -ENOMEM;
	copy.inherited = true;
	part_add(&entry->inherited, &walk->sampling, &copy);
	return add_block(walk, entry, &copy, birth_ns);
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

static int give_to_descendant(void *arg, uint32_t descendant,
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
	struct tracker_owner owner;

	if (!tracker->owner(tracker->arg, descendant, &owner))
		return 0;
	return tracker_walk_inherit(walk, &owner, inherited_block->site, &plain,
				    inherited_block->birth_ns);
}

/* Called after all other blocks were read: what was freed meanwhile is met in these tables. */
static int walk_descendants(struct tracker_walk *walk)
{
	struct descendants *descendants = walk->tracker->descendants;
	int err;

	if (!descendants)
		return 0;
	err = descendants_read(descendants, &walk->tracker->recent);
	return err ? err : inheritance_share(&descendants->inheritance, give_to_descendant, walk);
}

static int take_block(struct tracker_walk *walk, const struct memleak_block_key *at,
		      const struct memleak_block *block)
{
	const struct tracker *tracker = walk->tracker;
	struct block plain = {
		.addr = at->addr,
		.size = block->size,
		.sampled_size = block->size << block->halved,
		.tid = (pid_t)block__tid(block),
	};
	struct tracker_owner owner;

	if (keep_for_descendants(tracker->descendants, at, block))
		return -ENOMEM;
	if (!tracker->owner(tracker->arg, at->image, &owner))
		return 0;
	if (at->domain == MEMLEAK_DOMAIN_PAGE)
		plain.addr += tracker->page_offset;
	return tracker_walk_add(walk, &owner, block->site, &plain, block->birth_ns);
}

/* It was met before it was moved, or is handed over. */
static bool was_moved(const struct tracker_walk *walk, const struct memleak_block *block)
{
	const struct tracker *tracker = walk->tracker;

	return tracker->reading && block__reading(block) == tracker->reading_number;
}

static int visit_block(void *arg, const void *key, const void *value)
{
	return was_moved(arg, value) ? 0 : take_block(arg, key, value);
}

static int take_handed(struct tracker_walk *walk)
{
	const volatile struct memleak_reading *reading = walk->tracker->reading;
	int err = 0;

	for (size_t i = 0; reading && !err && i < MEMLEAK_HANDED_MAX && i < reading->handed_cnt;
	     i++) {
		const volatile struct memleak_handed *handed = &reading->handed[i];
		struct memleak_handed copy;

		/* Its program may have been interrupted. */
		if (__atomic_load_n(&handed->number, __ATOMIC_ACQUIRE) !=
		    walk->tracker->reading_number)
			continue;
		copy = *handed;
		err = take_block(walk, &copy.key, &copy.block);
	}
	return err;
}

static void begin_reading(struct tracker *tracker)
{
	bool first = tracker->reading_number < MEMLEAK_READING_FIRST ||
		     tracker->reading_number == MEMLEAK_READING_LAST;

	tracker->reading_number = first ? MEMLEAK_READING_FIRST : tracker->reading_number + 1;
	if (!tracker->reading)
		return;
	tracker->reading->read_cnt = 0;
	tracker->reading->handed_cnt = 0;
	__atomic_store_n(&tracker->reading->number, tracker->reading_number, __ATOMIC_SEQ_CST);
}

static void end_reading(struct tracker *tracker)
{
	if (tracker->reading)
		__atomic_store_n(&tracker->reading->number, 0, __ATOMIC_SEQ_CST);
}

/* For a block of the table, which may have been met in the cache before it was moved. */
static int visit_table_block(void *arg, const void *key, const void *value)
{
	const struct tracker_walk *walk = arg;

	return recent_blocks_met(&walk->tracker->recent, key) ? 0 : visit_block(arg, key, value);
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
	struct tracker *tracker = walk->tracker;
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
	if (tracker->descendants)
		inheritance_begin(&tracker->descendants->inheritance);
	begin_reading(tracker);
	err = recent_blocks_walk(&tracker->recent,
				 tracker->reading ? &tracker->reading->read_cnt : NULL, visit_block,
				 walk);
	if (!err)
		err = block_tables_walk(&tracker->blocks, visit_table_block, walk);
	if (!err)
		err = take_handed(walk);
	end_reading(tracker);
	return err ? err : walk_descendants(walk);
}

/* Names come from memory of the kernel's: they need not have an end. */
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
		.kind = kind_from(entry->kind),
		.process = owner.process,
		.oldest_ns = AGE_UNKNOWN,
		.newest_ns = AGE_UNKNOWN,
		.frames = entry->frames,
		.frame_cnt = entry->frame_cnt,
		.end = stack_end_from(entry->end),
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
	const struct site_table *table = &walk->tracker->sites;
	const struct hash_map_slot *slot = NULL;
	int err = tracker_sites_load(walk->tracker);

	if (err)
		return err;
	snap->sites = calloc(table->entries.cnt + 1, sizeof(*snap->sites));
	if (!snap->sites)
		return -ENOMEM;
	while ((slot = hash_map_next(&table->entries, slot))) {
		struct site_entry *entry = slot->value;

		if (entry->walk != table->walk || !entry->count || entry->joined)
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

int tracker_walk_begin(struct tracker *tracker, uint64_t t0_ns, struct tracker_walk *walk,
		       struct snapshot *snap)
{
	*walk = (struct tracker_walk){
		.tracker = tracker,
		.t0_ns = t0_ns,
		.sampling = sampling_of(tracker->opts),
	};
	*snap = (struct snapshot){
		.t0_ns = t0_ns,
		.wall_ns = clock_wall_of(t0_ns),
		.elapsed_ns = t0_ns - tracker->start_ns,
		.sampling = walk->sampling,
	};
	if (tracker->baseline_ns)
		snap->baseline_ns = tracker->baseline_ns - tracker->start_ns;
	site_table_begin(&tracker->sites);
	return walk_tables(walk);
}

int tracker_walk_end(struct tracker_walk *walk, int err, struct snapshot *snap)
{
	snap->walk_ns = clock_ns(CLOCK_MONOTONIC) - snap->t0_ns;
	if (!err)
		err = fill_sites(walk, snap);
	if (!err)
		err = tracker_stats_read(walk->tracker, snap);
	if (!err)
		err = snapshot_own(snap);
	if (err) {
		free(walk->blocks);
		walk->blocks = NULL;
		snapshot_deinit(snap);
		return err;
	}
	fill_blocks(walk, snap);
	if (!walk->tracker->any_age)
		walk->tracker->t0_ns = snap->t0_ns;
	return 0;
}

int tracker_reported(struct tracker *tracker)
{
	tracker->last_t0_ns = tracker->t0_ns;
	return stack_table_evict(&tracker->stacks, &tracker->recent);
}
