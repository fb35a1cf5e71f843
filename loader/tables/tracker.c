// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets up the tables of a BPF object, and deletes the entries of ended images. */
#include "loader/tables/tracker.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/test_knobs.h"
#include "bpf/block_tables.h"
#include "loader/probes/features.h"
#include "loader/tables/table_sizes.h"
#include "loader/tables/table_walk.h"
#include "loader/target/pid_namespace.h"

#define RECENT_BUCKETS 8192U
/*
 * Maximum number of counters in the filter: if there are more blocks, several blocks share a
 * counter, but the filter still fits into CPU caches
 */
#define FILTER_MOST (1U << 21)
/* --max-overhead: mean distance between samples in the first step, without --sample-bytes: 1 KiB */
#define FIRST_SAMPLE_BYTES 1024
/* Minimum number of blocks in the block table for which a recent-block cache is used */
#define RECENT_ALLOCS_MIN 65536U

/* Returns the largest power of two that is at most n; n must not be 0. */
static uint32_t power_below(uint32_t n)
{
	return 1U << (31 - __builtin_clz(n));
}

/*
 * Chooses the sizes of the recent-block cache and of the counting filter. The cache takes 2 MB, so
 * that it fits into CPU caches. The filter has a counter for each possible block, up to a limit.
 */
static void choose_sizes(uint32_t blocks, struct memleak_config *config)
{
	const char *wanted = test_knob(TEST_KNOB_RECENT_BUCKETS);
	uint32_t buckets = wanted ? (uint32_t)atoi(wanted) : RECENT_BUCKETS;

	config->exchange = features_have_exchange();
	config->recent = config->exchange && buckets && blocks >= RECENT_ALLOCS_MIN;
	config->recent_mask = config->recent ? power_below(buckets) - 1 : 0;
	config->filter_mask = power_below(blocks | MEMLEAK_FILTER_IN_LINE) - 1;
	if (config->filter_mask >= FILTER_MOST)
		config->filter_mask = FILTER_MOST - 1;
}

static int size_tables(const struct table_sizes *sizes, struct bpf_object *object,
		       uint32_t stack_depth, bool on_demand, struct memleak_config *config)
{
	const struct {
		const char *name;
		uint32_t entries;
	} tables[] = {
		{"recent", config->recent_mask + 1},
		{"filter", (config->filter_mask + 1) / MEMLEAK_FILTER_IN_LINE},
		{"stacks", sizes->stacks},
		{"sites", sizes->sites},
	};
	uint32_t stack_size = sizeof(struct memleak_stack) + stack_depth * sizeof(__u64);
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, tables[i].name);

		if (!map)
			return -ENOENT;
		err |= bpf_map__set_max_entries(map, tables[i].entries);
		if (on_demand && bpf_map__type(map) == BPF_MAP_TYPE_HASH)
			err |= bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
	}
	err |= bpf_map__set_value_size(bpf_object__find_map_by_name(object, "stacks"), stack_size);
	return err ? -EINVAL : 0;
}

int tracker_prepare(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		    bool on_demand, struct memleak_config *config)
{
	const char *stack_cache = test_knob(TEST_KNOB_STACK_CACHE);
	const struct memory_limit limit = memory_limit_read();
	uint64_t memory = table_memory(opts, &limit);
	struct table_sizes sizes;
	int err;

	/* User and kernel memory have separate tables: each gets half of the memory. */
	if (opts->kernel && options_trace_processes(opts))
		memory /= 2;
	sizes = table_sizes_choose(opts, memory, stack_depth, on_demand);
	config->min_size = opts->min_size;
	config->max_size = opts->max_size;
	config->earlier = options_keep_every_block(opts);
	config->max_allocs = sizes.blocks;
	config->wide_size =
		(1ULL << MEMLEAK_TOTAL_SIZE_BITS) / ((uint64_t)sizes.blocks + MEMLEAK_IN_FLIGHT);
	config->sample_rate = opts->sample_rate;
	config->sample_bytes = opts->sample_bytes;
	config->steps = opts->max_overhead > 0;
	if (config->steps && !config->sample_bytes)
		config->sample_bytes = FIRST_SAMPLE_BYTES;
	config->stack_depth = stack_depth;
	config->combined_only = opts->combined_only;
	config->summary = opts->summary;
	config->trace_events = opts->trace > 0;
	config->trace_stacks = opts->trace > 1;
	config->pid_namespace = pid_namespace_own();
	config->stack_cache = !stack_cache || strcmp(stack_cache, "no") != 0;
	choose_sizes(sizes.blocks, config);
	err = size_tables(&sizes, object, stack_depth, on_demand, config);
	/*
	 * If the user gives the maximum number of blocks, there is one table of exactly this size.
	 */
	return err ? err
		   : block_tables_prepare(object, sizes.blocks, !opts->max_allocs, on_demand,
					  config);
}

int tracker_init(struct tracker *tracker, uint32_t stack_depth,
		 volatile struct memleak_stack_watch *watch)
{
	int err;

	tracker->sites_fd = bpf_object__find_map_fd_by_name(tracker->object, "sites");
	tracker->counters_fd = bpf_object__find_map_fd_by_name(tracker->object, "counters");
	/* Only the BPF object for user memory has summaries. */
	tracker->summaries_fd = bpf_object__find_map_fd_by_name(tracker->object, "summaries");
	if (tracker->sites_fd < 0 || tracker->counters_fd < 0)
		return -ENOENT;
	err = block_tables_init(&tracker->blocks, tracker->object);
	if (!err)
		err = stack_table_init(&tracker->stacks, tracker->object, stack_depth, watch);
	if (!err)
		err = quotas_init(&tracker->quotas, tracker->object);
	if (err)
		return err;
	return recent_blocks_init(&tracker->recent, tracker->object,
				  tracker->walker.space == SPACE_USER ? MEMLEAK_DOMAIN_USER
								      : MEMLEAK_DOMAIN_SLAB);
}

void tracker_deinit(struct tracker *tracker)
{
	const struct stats *stats = &tracker->stats;

	if (stats->walked)
		log_verbose("%s stacks: %" PRIu64 " walked, %" PRIu64
			    " from the stack cache; %" PRIu64
			    " from the cache were walked as a check, %" PRIu64 " differed",
			    tracker->walker.space == SPACE_USER ? "user" : "kernel", stats->walked,
			    stats->cached, stats->checked, stats->disagreed);
	if (stats->stored)
		log_verbose("%s stacks: %" PRIu64 " stored; the frames of %" PRIu64
			    " sites were resolved later",
			    tracker->walker.space == SPACE_USER ? "user" : "kernel", stats->stored,
			    tracker->resolved);
	if (tracker->stacks.evicted.cnt)
		log_verbose("%zu stacks without outstanding blocks were evicted",
			    tracker->stacks.evicted.cnt);
	recent_blocks_deinit(&tracker->recent);
	quotas_deinit(&tracker->quotas);
	stack_table_deinit(&tracker->stacks);
	block_tables_deinit(&tracker->blocks);
	site_table_deinit(&tracker->walker.sites);
}

uint64_t tracker_block_cnt(const struct tracker *tracker, uint32_t image)
{
	uint64_t recent, held;

	if (tracker->quotas.items)
		return quotas_block_cnt(&tracker->quotas, image);
	recent_blocks_count(&tracker->recent, &recent, &held);
	return held;
}

struct purge {
	struct tracker *tracker;
	const struct image_set *images;
};

static int purge_block(void *arg, const void *key, const void *value)
{
	const struct purge *purge = arg;

	if (!image_set_has(purge->images, ((const struct memleak_block_key *)key)->image))
		return 0;
	purge->tracker->purged_bytes += ((const struct memleak_block *)value)->size;
	return 1;
}

static void purged_block(void *arg, const void *key)
{
	const struct purge *purge = arg;

	recent_blocks_uncount(&purge->tracker->recent, key);
	quotas_uncount(&purge->tracker->quotas, ((const struct memleak_block_key *)key)->image);
}

static int purge_site(void *arg, const void *key, const void *value)
{
	const struct purge *purge = arg;

	return image_set_has(purge->images, ((const struct memleak_site *)value)->image);
}

void tracker_purge(struct tracker *tracker, const struct image_set *images)
{
	struct purge purge = {tracker, images};
	const struct table_walk sites = {
		.fd = tracker->sites_fd,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = purge_site,
		.arg = &purge,
	};

	if (!images->cnt)
		return;
	for (size_t i = 0; tracker->summaries_fd >= 0 && i < images->cnt; i++)
		bpf_map_delete_elem(tracker->summaries_fd, &images->items[i]);
	tracker->purged_bytes += recent_blocks_purge(&tracker->recent, images);
	block_tables_delete(&tracker->blocks, purge_block, purged_block, &purge);
	table_walk_delete(&sites);
	site_table_drop_images(&tracker->walker.sites, images);
	if (tracker->descendants)
		descendants_forget(tracker->descendants, images);
}
