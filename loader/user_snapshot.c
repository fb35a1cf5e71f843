// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks the tables of the user source and makes snapshots. Blocks are read in batches: a batch
 * holds whole hash buckets, so no block is met twice whatever the target does meanwhile.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loader/cleanup.h"
#include "loader/user_source_impl.h"

#define BATCH 8192

/* A walk over one hash table; called for each element. */
struct table_walk {
	int fd;
	size_t key_size;
	size_t value_size;
	int (*element)(void *arg, const void *key, const void *value);
	void *arg;
};

struct snapshot_walk {
	struct user_source *source;
	uint64_t t0_ns;
	struct block *blocks; /* with -a; site is the index of the entry until sorted out */
	size_t block_cnt;
	size_t block_cap;
	bool combined; /* sums come from the sites */
};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static int visit_batch(const struct table_walk *walk, const char *keys, const char *values,
		       uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		int err = walk->element(walk->arg, keys + i * walk->key_size,
					values + i * walk->value_size);

		if (err)
			return err;
	}
	return 0;
}

/* A bucket that does not fit into a batch (ENOSPC) makes the batch grow. */
static int walk_table(const struct table_walk *walk)
{
	cleanup_free char *keys = NULL, *values = NULL;
	uint32_t cap = BATCH, position = 0;
	bool started = false, done = false;

	while (!done) {
		uint32_t cnt = cap;
		int err;

		if (!keys) {
			keys = reallocarray(NULL, cap, walk->key_size);
			values = reallocarray(NULL, cap, walk->value_size);
			if (!keys || !values)
				return -ENOMEM;
		}
		err = bpf_map_lookup_batch(walk->fd, started ? &position : NULL, &position, keys,
					   values, &cnt, NULL);
		if (err == -ENOSPC) {
			free(keys);
			free(values);
			keys = values = NULL;
			cap *= 2;
			continue;
		}
		if (err && err != -ENOENT)
			return err;
		done = err == -ENOENT;
		started = true;
		err = visit_batch(walk, keys, values, cnt);
		if (err)
			return err;
	}
	return 0;
}

/* Whether a block of the process is old enough for this report. */
static bool old_enough(const struct snapshot_walk *walk, const struct user_process *process,
		       uint64_t birth_ns)
{
	const struct options *opts = walk->source->ctx.opts;
	uint64_t older = process->ended && !opts->older_given ? 0 : opts->older_ns;

	return birth_ns <= walk->t0_ns && walk->t0_ns - birth_ns >= older;
}

static int keep_block(struct snapshot_walk *walk, const struct block *block)
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

static int add_block(struct snapshot_walk *walk, uint64_t site, const struct block *block,
		     uint64_t birth_ns)
{
	struct site_entry *entry = site_table_get(&walk->source->sites, site);
	struct block kept = *block;

	if (!entry)
		return -ENOMEM;
	site_entry_add(entry, block->size, birth_ns);
	if (!walk->source->ctx.opts->show_allocs)
		return 0;
	kept.site = (size_t)entry;
	kept.age_ns = walk->t0_ns - birth_ns;
	return keep_block(walk, &kept);
}

static int visit_block(void *arg, const void *key, const void *value)
{
	const struct memleak_block_key *at = key;
	const struct memleak_block *block = value;
	struct snapshot_walk *walk = arg;
	struct user_process *process = user_source__process(walk->source, at->image);
	struct block plain = {.addr = at->addr, .size = block->size, .tid = (pid_t)block->tid};

	if (!process || !old_enough(walk, process, block->birth_ns))
		return 0;
	return add_block(walk, block->site, &plain, block->birth_ns);
}

/* -C: the totals that the programs kept. */
static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct snapshot_walk *walk = arg;
	struct site_entry *entry;

	if (!site->total.number_of_allocs || !user_source__process(walk->source, site->image))
		return 0;
	entry = site_table_get(&walk->source->sites, *(const uint64_t *)key);
	if (!entry)
		return -ENOMEM;
	entry->bytes += site->total.total_size + site->wide_bytes;
	entry->count += site->total.number_of_allocs;
	return 0;
}

static int walk_blocks(struct snapshot_walk *walk)
{
	const struct user_bpf *skel = walk->source->ctx.skel;
	struct table_walk blocks = {
		.fd = bpf_map__fd(skel->maps.blocks),
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(struct memleak_block),
		.element = visit_block,
		.arg = walk,
	};
	struct table_walk sites = {
		.fd = bpf_map__fd(skel->maps.sites),
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = visit_site,
		.arg = walk,
	};

	return walk_table(walk->source->ctx.opts->combined_only ? &sites : &blocks);
}

static int walk_mappings(struct snapshot_walk *walk, const struct user_process *process)
{
	for (size_t i = 0; i < process->ranges.cnt; i++) {
		const struct range *range = &process->ranges.items[i];
		struct block plain = {
			.addr = range->start,
			.size = range->end - range->start,
			.tid = range->tid,
		};
		int err;

		if (!walk->combined && !old_enough(walk, process, range->birth_ns))
			continue;
		err = add_block(walk, range->site, &plain, range->birth_ns);
		if (err)
			return err;
	}
	return 0;
}

/* Reads what the kernel tables know of a site that was not met before. */
static int load_site(struct user_source *source, struct site_entry *entry)
{
	const struct user_bpf *skel = source->ctx.skel;
	cleanup_free struct memleak_stack *stack = NULL;
	struct memleak_site site;
	size_t depth = source->ctx.opts->stack_depth;

	if (entry->loaded)
		return 0;
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.sites), &entry->id, &site))
		return 0; /* gone with its image; the entry stays without a stack */
	entry->image = site.image;
	entry->kind = site.kind;
	entry->stack = site.stack;
	entry->loaded = true;
	stack = malloc(sizeof(*stack) + depth * sizeof(uint64_t));
	if (!stack)
		return -ENOMEM;
	if (!site.stack || bpf_map_lookup_elem(bpf_map__fd(skel->maps.stacks), &site.stack, stack))
		return 0;
	if (stack->frame_cnt > depth)
		stack->frame_cnt = (uint32_t)depth;
	entry->frames = reallocarray(NULL, stack->frame_cnt, sizeof(uint64_t));
	if (!entry->frames)
		return -ENOMEM;
	memcpy(entry->frames, stack->frames, stack->frame_cnt * sizeof(uint64_t));
	entry->frame_cnt = stack->frame_cnt;
	entry->truncated = stack->truncated;
	return 0;
}

static void fill_site(const struct snapshot_walk *walk, const struct site_entry *entry,
		      struct site *ret)
{
	const struct user_process *process = user_source__process(walk->source, entry->image);
	uint64_t scale = walk->source->ctx.opts->sample_rate;

	*ret = (struct site){
		.id = entry->id,
		.space = SPACE_USER,
		.kind = (enum memleak_kind)entry->kind,
		.process = process ? &process->info : NULL,
		.bytes = entry->bytes * scale,
		.count = entry->count * scale,
		.oldest_ns = AGE_UNKNOWN,
		.newest_ns = AGE_UNKNOWN,
		.frames = entry->frames,
		.frame_cnt = entry->frame_cnt,
		.truncated = entry->truncated,
	};
	if (walk->combined)
		return;
	ret->oldest_ns = walk->t0_ns - entry->oldest_birth_ns;
	ret->newest_ns = walk->t0_ns - entry->newest_birth_ns;
}

static int fill_sites(struct snapshot_walk *walk, struct snapshot *snap)
{
	struct site_table *table = &walk->source->sites;

	snap->sites = calloc(table->cnt ? table->cnt : 1, sizeof(*snap->sites));
	if (!snap->sites)
		return -ENOMEM;
	for (size_t i = 0; i < table->slot_cnt; i++) {
		struct site_entry *entry = table->slots[i];
		int err;

		if (!entry || entry->walk != table->walk || !entry->count)
			continue;
		err = load_site(walk->source, entry);
		if (err)
			return err;
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

static void fill_blocks(struct snapshot_walk *walk, struct snapshot *snap)
{
	for (size_t i = 0; i < walk->block_cnt; i++)
		walk->blocks[i].site = ((struct site_entry *)walk->blocks[i].site)->index;
	if (walk->block_cnt)
		qsort(walk->blocks, walk->block_cnt, sizeof(*walk->blocks), by_site_then_age);
	snap->blocks = walk->blocks;
	snap->block_cnt = walk->block_cnt;
	walk->blocks = NULL;
}

/* Programs that the kernel did not run because one of them ran already. */
static uint64_t recursion_misses(const struct user_bpf *skel)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	bpf_object__for_each_program(prog, skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(prog) >= 0 &&
		    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len) == 0)
			misses += info.recursion_misses;
	}
	return misses;
}

static int fill_counters(const struct user_source *source, struct snapshot *snap)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(source->ctx.skel->maps.counters);
	cleanup_free uint64_t *values = NULL;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < MEMLEAK_COUNTER_CNT; i++) {
		uint64_t sum = 0;

		if (bpf_map_lookup_elem(fd, &i, values))
			return -errno;
		for (int cpu = 0; cpu < cpus; cpu++)
			sum += values[cpu];
		if (i < MEMLEAK_LOST_CNT)
			snap->lost[i] = sum;
		else if (i == MEMLEAK_STAT_CALLS)
			snap->calls = sum;
	}
	snap->lost[MEMLEAK_LOST_RECURSION] += recursion_misses(source->ctx.skel);
	for (size_t i = 0; i < source->process_cnt; i++) {
		snap->lost[MEMLEAK_LOST_MAPPINGS] += source->processes[i]->mappings_lost;
		snap->lost[MEMLEAK_LOST_EXEC] += source->processes[i]->exec_gaps;
	}
	return 0;
}

int user_snapshot__take(struct user_source *source, struct snapshot *ret)
{
	const struct options *opts = source->ctx.opts;
	struct snapshot_walk walk = {.source = source, .combined = opts->combined_only};
	struct snapshot snap = {0};
	int err;

	site_table_begin(&source->sites);
	walk.t0_ns = clock_ns(CLOCK_MONOTONIC);
	snap.t0_ns = walk.t0_ns;
	snap.wall_ns = (int64_t)clock_ns(CLOCK_REALTIME);
	snap.elapsed_ns = snap.t0_ns - source->start_ns;
	err = walk_blocks(&walk);
	for (size_t i = 0; !err && i < source->process_cnt; i++)
		err = walk_mappings(&walk, source->processes[i]);
	snap.walk_ns = clock_ns(CLOCK_MONOTONIC) - snap.t0_ns;
	if (!err)
		err = fill_sites(&walk, &snap);
	if (!err)
		err = fill_counters(source, &snap);
	if (err) {
		free(walk.blocks);
		snapshot_deinit(&snap);
		return err;
	}
	fill_blocks(&walk, &snap);
	if (opts->sample_rate > 1)
		snap.sampling = (struct sampling){SAMPLING_COUNT, opts->sample_rate};
	*ret = snap;
	return 0;
}

/* Keys of an image, to be deleted once the walk is over. */
struct purge {
	uint32_t image;
	size_t key_size;
	char *keys;
	size_t cnt;
	size_t cap;
};

static int remember_key(struct purge *purge, const void *key)
{
	if (purge->cnt == purge->cap) {
		size_t cap = purge->cap ? purge->cap * 2 : 1024;
		char *grown = reallocarray(purge->keys, cap, purge->key_size);

		if (!grown)
			return -ENOMEM;
		purge->keys = grown;
		purge->cap = cap;
	}
	memcpy(purge->keys + purge->cnt++ * purge->key_size, key, purge->key_size);
	return 0;
}

static int purge_block(void *arg, const void *key, const void *value)
{
	struct purge *purge = arg;

	if (((const struct memleak_block_key *)key)->image != purge->image)
		return 0;
	return remember_key(purge, key);
}

static int purge_site(void *arg, const void *key, const void *value)
{
	struct purge *purge = arg;

	if (((const struct memleak_site *)value)->image != purge->image)
		return 0;
	return remember_key(purge, key);
}

static void delete_keys(int fd, struct purge *purge)
{
	for (size_t i = 0; i < purge->cnt; i++)
		bpf_map_delete_elem(fd, purge->keys + i * purge->key_size);
	free(purge->keys);
}

void user_snapshot__purge(struct user_source *source, uint32_t image)
{
	const struct user_bpf *skel = source->ctx.skel;
	struct purge blocks = {.image = image, .key_size = sizeof(struct memleak_block_key)};
	struct purge sites = {.image = image, .key_size = sizeof(uint64_t)};
	struct table_walk block_walk = {bpf_map__fd(skel->maps.blocks), blocks.key_size,
					sizeof(struct memleak_block), purge_block, &blocks};
	struct table_walk site_walk = {bpf_map__fd(skel->maps.sites), sites.key_size,
				       sizeof(struct memleak_site), purge_site, &sites};

	walk_table(&block_walk);
	delete_keys(block_walk.fd, &blocks);
	walk_table(&site_walk);
	delete_keys(site_walk.fd, &sites);
	site_table_drop_image(&source->sites, image);
}
