// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets up the tables that every BPF object has, and cleans them. */
#include "loader/tracker.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/block_tables.h"
#include "loader/features.h"
#include "loader/log.h"
#include "loader/pid_namespace.h"
#include "loader/table_walk.h"
#include "loader/tracker_recycle.h"

/*
 * Sites for each stack: paths that have nothing outstanding keep theirs, while their stacks make
 * room. Memory that is taken before it is needed is spared.
 */
#define SITES_ON_DEMAND 16
#define SITES_AT_ONCE 4
#define IDLE_SITES_MAX (1U << 20)
/* The same stack in several processes, and lost stacks. */
#define EXTRA_SITES 4096

#define YOUNG_BUCKETS 8192U
/* With less, each block that is tracked shall be in the table. */
#define YOUNG_ALLOCS_MIN 65536U

/* The largest power of two that is no more than n, which is not 0. */
static uint32_t power_below(uint32_t n)
{
	return 1U << (31 - __builtin_clz(n));
}

/*
 * Young blocks are few beside the others: 2 MB of them, so that they stay in a processor's cache.
 * What the table holds is counted in as many numbers as there can be blocks.
 */
static void choose_sizes(const struct options *opts, struct memleak_config *config)
{
	/* MEMLEAK_YOUNG: a power of two, or 0 for none, to see them go to the table. */
	const char *wanted = getenv("MEMLEAK_YOUNG");
	uint32_t buckets = wanted ? (uint32_t)atoi(wanted) : YOUNG_BUCKETS;

	config->exchange = features_have_exchange();
	config->young = config->exchange && buckets && opts->max_allocs >= YOUNG_ALLOCS_MIN;
	config->young_mask = config->young ? power_below(buckets) - 1 : 0;
	config->held_mask = power_below(opts->max_allocs | MEMLEAK_HELD_IN_LINE) - 1;
}

static int size_tables(const struct options *opts, struct bpf_object *object, uint32_t stack_depth,
		       bool on_demand, const struct memleak_config *config)
{
	uint64_t idle = (uint64_t)opts->stack_storage_size *
			((on_demand ? SITES_ON_DEMAND : SITES_AT_ONCE) - 1);
	const struct {
		const char *name;
		uint32_t entries;
	} tables[] = {
		{"blocks", opts->max_allocs},
		{"young", config->young_mask + 1},
		{"held", (config->held_mask + 1) / MEMLEAK_HELD_IN_LINE},
		{"stacks", opts->stack_storage_size},
		{"sites", opts->stack_storage_size + EXTRA_SITES +
				  (uint32_t)(idle < IDLE_SITES_MAX ? idle : IDLE_SITES_MAX)},
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
	const char *recall = getenv("MEMLEAK_RECALL");

	config->min_size = opts->min_size;
	config->max_size = opts->max_size;
	config->max_allocs = opts->max_allocs;
	config->wide_size = (1ULL << MEMLEAK_TOTAL_SIZE_BITS) /
			    ((uint64_t)opts->max_allocs + MEMLEAK_IN_FLIGHT);
	config->sample_rate = opts->sample_rate;
	config->sample_bytes = opts->sample_bytes;
	config->stack_depth = stack_depth;
	config->combined_only = opts->combined_only;
	config->summary = opts->summary;
	config->trace_events = opts->trace > 0;
	config->trace_stacks = opts->trace > 1;
	config->pid_namespace = pid_namespace_own();
	/* MEMLEAK_RECALL=no: each stack is walked, to see what that costs. */
	config->recall = !recall || strcmp(recall, "no") != 0;
	choose_sizes(opts, config);
	return size_tables(opts, object, stack_depth, on_demand, config);
}

int tracker_init(struct tracker *tracker, uint32_t stack_depth)
{
	int err;

	tracker->stack_depth = stack_depth;
	tracker->blocks_fd = bpf_object__find_map_fd_by_name(tracker->object, "blocks");
	tracker->sites_fd = bpf_object__find_map_fd_by_name(tracker->object, "sites");
	tracker->stacks_fd = bpf_object__find_map_fd_by_name(tracker->object, "stacks");
	tracker->counters_fd = bpf_object__find_map_fd_by_name(tracker->object, "counters");
	/* Of user space alone. */
	tracker->summaries_fd = bpf_object__find_map_fd_by_name(tracker->object, "summaries");
	if (tracker->blocks_fd < 0 || tracker->sites_fd < 0 || tracker->stacks_fd < 0 ||
	    tracker->counters_fd < 0)
		return -ENOENT;
	tracker_recycle_init(tracker);
	err = shares_init(&tracker->shares, tracker->object);
	if (err)
		return err;
	return young_blocks_init(&tracker->young, tracker->object,
				 tracker->space == SPACE_USER ? MEMLEAK_DOMAIN_USER
							      : MEMLEAK_DOMAIN_SLAB);
}

void tracker_deinit(struct tracker *tracker)
{
	const struct figures *figures = &tracker->figures;

	if (figures->walked)
		log_verbose("%s stacks: %" PRIu64 " walked, %" PRIu64
			    " recognised without; of %" PRIu64 " recognised and walked all the "
			    "same %" PRIu64 " were others",
			    tracker->space == SPACE_USER ? "user" : "kernel", figures->walked,
			    figures->recalled, figures->checked, figures->disagreed);
	if (figures->stored)
		log_verbose("%s stacks: %" PRIu64 " stored, the frames of %" PRIu64
			    " sites were found out later",
			    tracker->space == SPACE_USER ? "user" : "kernel", figures->stored,
			    tracker->settled);
	if (tracker->archive.cnt)
		log_verbose("%zu stacks of nothing outstanding made room for others",
			    tracker->archive.cnt);
	young_blocks_deinit(&tracker->young);
	shares_deinit(&tracker->shares);
	stack_archive_deinit(&tracker->archive);
	site_table_deinit(&tracker->sites);
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

	young_blocks_uncount(&purge->tracker->young, key);
	shares_uncount(&purge->tracker->shares, ((const struct memleak_block_key *)key)->image);
}

static int purge_site(void *arg, const void *key, const void *value)
{
	const struct purge *purge = arg;

	return image_set_has(purge->images, ((const struct memleak_site *)value)->image);
}

void tracker_purge(struct tracker *tracker, const struct image_set *images)
{
	struct purge purge = {tracker, images};
	const struct table_walk blocks = {
		.fd = tracker->blocks_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(struct memleak_block),
		.element = purge_block,
		.deleted = purged_block,
		.arg = &purge,
	};
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
	tracker->purged_bytes += young_blocks_purge(&tracker->young, images);
	table_walk_delete(&blocks);
	table_walk_delete(&sites);
	site_table_drop_images(&tracker->sites, images);
	if (tracker->heirs)
		heirs_forget(tracker->heirs, images);
}
