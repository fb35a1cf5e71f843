// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the counters of a BPF object, and counts the entries of its tables. */
#include "loader/tables/tracker_stats.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "bpf/block_tables.h"
#include "loader/tables/table_walk.h"
#include "loader/tables/translate.h"

uint64_t program_recursion_misses(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (bpf_program__fd(prog) < 0 || bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &len))
		return 0;
	return info.recursion_misses;
}

static uint64_t recursion_misses(const struct tracker *tracker)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	bpf_object__for_each_program(prog, tracker->object)
	{
		if (!tracker->may_miss(prog))
			misses += program_recursion_misses(prog);
	}
	return misses;
}

/* Sums up the counters of all CPUs. */
static int sum_counters(const struct tracker *tracker, uint64_t sums[MEMLEAK_COUNTER_CNT])
{
	int cpus = libbpf_num_possible_cpus();
	cleanup_free uint64_t *values = NULL;

	if (cpus < 0)
		return cpus;
	values = calloc((size_t)cpus, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint32_t i = 0; i < MEMLEAK_COUNTER_CNT; i++) {
		if (bpf_map_lookup_elem(tracker->counters_fd, &i, values))
			return -errno;
		for (int cpu = 0; cpu < cpus; cpu++)
			sums[i] += values[cpu];
	}
	return 0;
}

void tracker_stats_start(struct tracker *tracker)
{
	uint64_t sums[MEMLEAK_COUNTER_CNT] = {0};
	uint64_t missed = recursion_misses(tracker);

	if (!sum_counters(tracker, sums))
		tracker->missed_before = (int64_t)(missed - sums[MEMLEAK_STAT_RESCUED]);
}

static void fill_stats(const uint64_t sums[MEMLEAK_COUNTER_CNT], struct stats *stats)
{
	*stats = (struct stats){
		.known = true,
		.calls = sums[MEMLEAK_STAT_CALLS],
		.failed = sums[MEMLEAK_STAT_FAILED],
		.walked = sums[MEMLEAK_STAT_WALKS],
		.cached = sums[MEMLEAK_STAT_CACHED],
		.checked = sums[MEMLEAK_STAT_CHECKED],
		.disagreed = sums[MEMLEAK_STAT_DISAGREED],
		.stored = sums[MEMLEAK_STAT_STACKS],
	};
	stats->calls += calls_from(&sums[MEMLEAK_STAT_CALLS_OF], stats->calls_of);
}

struct stats tracker_stats_now(const struct tracker *tracker)
{
	uint64_t sums[MEMLEAK_COUNTER_CNT] = {0};
	struct stats stats = {0};

	if (!sum_counters(tracker, sums))
		fill_stats(sums, &stats);
	return stats;
}

struct entry_count {
	bool may_be_empty; /* true for an array: an entry is unused if its first 64 bits are 0 */
	uint64_t used;
};

static int count_entry(void *arg, const void *key, const void *value)
{
	struct entry_count *count = arg;
	uint64_t word;

	memcpy(&word, value, sizeof(word));
	count->used += !count->may_be_empty || word;
	return 0;
}

/* Counts the entries of a table; leaves ret unchanged if the table does not exist. */
static int count_entries(const struct tracker *tracker, const char *name, struct fill *ret)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(tracker->object, name);
	struct entry_count count = {0};
	struct table_walk walk = {.element = count_entry, .arg = &count};
	int err;

	if (!map || bpf_map__fd(map) < 0)
		return 0;
	walk.fd = bpf_map__fd(map);
	walk.key_size = bpf_map__key_size(map);
	walk.value_size = bpf_map__value_size(map);
	count.may_be_empty = bpf_map__type(map) == BPF_MAP_TYPE_ARRAY;
	err = table_walk_run(&walk);
	if (!err)
		*ret = (struct fill){count.used, bpf_map__max_entries(map)};
	return err;
}

static int fill_tables(struct tracker *tracker)
{
	struct fill *fills = tracker->stats.fills;
	int err = count_entries(tracker, "sites", &fills[TABLE_SITES]);

	recent_blocks_count(&tracker->recent, &fills[TABLE_RECENT].used, &fills[TABLE_BLOCKS].used);
	if (tracker->descendants)
		fills[TABLE_BLOCKS].used -= tracker->descendants->freed_cnt;
	fills[TABLE_BLOCKS].size = tracker->blocks.first + tracker->blocks.second;
	/* A single bucket means that there is no cache. */
	if (tracker->recent.bucket_cnt > 1)
		fills[TABLE_RECENT].size = tracker->recent.bucket_cnt * MEMLEAK_RECENT_BLOCKS;
	if (!err)
		err = count_entries(tracker, "stacks", &fills[TABLE_STACKS]);
	/* Depending on the kernel, the object has either thread_slots or thread_table. */
	if (!err)
		err = count_entries(tracker, "thread_slots", &fills[TABLE_THREADS]);
	return err ? err : count_entries(tracker, "thread_table", &fills[TABLE_THREADS]);
}

int tracker_stats_read(struct tracker *tracker, struct snapshot *snap)
{
	uint64_t sums[MEMLEAK_COUNTER_CNT] = {0}, missed;
	int64_t left_out;
	int err;

	/*
	 * Read the numbers of missed events before the counters: an event that a BPF program has
	 * just missed may be rescued a moment later by the second program of its pair, which
	 * increments a counter.
	 */
	missed = recursion_misses(tracker);
	err = sum_counters(tracker, sums);
	if (err)
		return err;
	losses_from(sums, snap->lost);
	left_out = (int64_t)(missed - sums[MEMLEAK_STAT_RESCUED]) - tracker->missed_before;
	if (left_out > (int64_t)tracker->recursion)
		tracker->recursion = (uint64_t)left_out;
	snap->lost[LOSS_RECURSION] += tracker->recursion;
	snap->replaced = sums[MEMLEAK_STAT_REPLACED];
	snap->gone_with_page = sums[MEMLEAK_STAT_GONE_WITH_PAGE];
	fill_stats(sums, &tracker->stats);
	snap->calls = tracker->stats.calls;
	if (tracker->walker.opts->stats)
		err = fill_tables(tracker);
	snap->stats[tracker->walker.space] = tracker->stats;
	return err;
}
