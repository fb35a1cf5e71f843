// SPDX-License-Identifier: GPL-2.0-or-later
/* Divides the available memory among the tables. */
#include "loader/tables/table_sizes.h"

#include "bpf/memleak.h"

/* Default memory of the tables: 1/10 of the machine's memory, but at least DEFAULT_LEAST bytes */
#define DEFAULT_PART 10
#define DEFAULT_LEAST (256ULL << 20)

/* Bytes that the kernel needs for an entry, including its bookkeeping */
#define BLOCK_BYTES 128
#define SITE_BYTES 256
#define STACK_BYTES(depth) (64 + 8 * (uint64_t)(depth))

/*
 * Maximum number of entries in preallocated tables (_AT_ONCE), and minimum (_LEAST) and maximum
 * (_MOST) number of entries in any table
 */
#define BLOCKS_AT_ONCE 1000000
#define STACKS_AT_ONCE 16384
#define BLOCKS_LEAST 4096
#define STACKS_LEAST 512
#define STACKS_MOST (1U << 20)

/*
 * Multiplier for the size of the stack table if processes are chosen by name or cgroup: there may
 * be many processes, with different stacks
 */
#define MANY_PROCESSES_STACKS 4

/*
 * Number of sites for each stack. It is large because a site without outstanding blocks stays when
 * its stack is evicted. Preallocated tables have fewer sites.
 */
#define SITES_ON_DEMAND 16
#define SITES_AT_ONCE 4
#define IDLE_SITES_MAX (1U << 20)
/* Additional sites for stacks that several processes share, and for lost stacks */
#define EXTRA_SITES 4096

#define LEAST_BYTES (80ULL << 20)
#define MANY_PROCESSES_BYTES (80ULL << 20)

uint64_t table_least_memory(const struct options *opts)
{
	return LEAST_BYTES + (options_find_processes(opts) ? MANY_PROCESSES_BYTES : 0);
}

uint64_t table_memory(const struct options *opts, const struct memory_limit *limit)
{
	uint64_t memory = limit->machine / DEFAULT_PART, least = table_least_memory(opts), left;

	if (opts->max_memory)
		return opts->max_memory;
	if (memory < DEFAULT_LEAST)
		memory = DEFAULT_LEAST;
	if (limit->cgroup_left == UINT64_MAX)
		return memory;
	left = limit->cgroup_left > least ? limit->cgroup_left - least : 0;
	/*
	 * Use half of the free memory: the other half is for unwind tables, and for targets in the
	 * same cgroup.
	 */
	return left / 2 < memory ? left / 2 : memory;
}

static uint64_t power_below(uint64_t n)
{
	return n ? 1ULL << (63 - __builtin_clzll(n)) : 0;
}

static uint32_t bounded(uint64_t n, uint32_t least, uint32_t most)
{
	if (n < least)
		return least;
	return n < most ? (uint32_t)n : most;
}

/*
 * Returns the size of the block table. Without preallocation, the size is a power of two, because
 * the kernel always rounds the number of buckets up to a power of two.
 */
static uint32_t choose_blocks(uint64_t memory, bool on_demand)
{
	uint64_t cnt = memory / BLOCK_BYTES;

	if (!on_demand)
		return bounded(cnt, BLOCKS_LEAST, BLOCKS_AT_ONCE);
	return bounded(power_below(cnt), BLOCKS_LEAST, MEMLEAK_MAX_ALLOCS_CAP);
}

static uint32_t choose_stacks(const struct options *opts, uint64_t memory, uint32_t stack_depth,
			      bool on_demand)
{
	uint64_t bytes = STACK_BYTES(stack_depth);
	uint32_t at_once = STACKS_AT_ONCE;

	if (options_find_processes(opts))
		at_once *= MANY_PROCESSES_STACKS;
	if (!on_demand)
		return bounded(memory / bytes, STACKS_LEAST, at_once);
	/* The kernel allocates entries in sizes that are powers of two. */
	return bounded(power_below(memory / (2 * power_below(bytes))), STACKS_LEAST, STACKS_MOST);
}

static uint32_t choose_sites(const struct options *opts, uint64_t memory, uint32_t stacks,
			     bool on_demand)
{
	uint64_t idle = (uint64_t)stacks * ((on_demand ? SITES_ON_DEMAND : SITES_AT_ONCE) - 1);
	uint32_t least = stacks + EXTRA_SITES, sites, filled;

	if (idle > IDLE_SITES_MAX)
		idle = IDLE_SITES_MAX;
	if (opts->stack_storage_size)
		return least + (uint32_t)idle;
	sites = bounded(memory / SITE_BYTES, least, least + (uint32_t)idle);
	filled = (uint32_t)power_below(sites);
	return on_demand && filled >= least ? filled : sites;
}

struct table_sizes table_sizes_choose(const struct options *opts, uint64_t memory,
				      uint32_t stack_depth, bool on_demand)
{
	struct table_sizes sizes = {opts->max_allocs, opts->stack_storage_size, 0};

	if (!sizes.blocks)
		sizes.blocks = choose_blocks(memory / 2, on_demand);
	if (!sizes.stacks)
		sizes.stacks = choose_stacks(opts, memory / 4, stack_depth, on_demand);
	sizes.sites = choose_sites(opts, memory / 8, sizes.stacks, on_demand);
	return sizes;
}
