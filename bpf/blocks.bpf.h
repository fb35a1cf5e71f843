/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block tables, the site table with the totals of blocks, and the counters.
 *
 * Two rules keep the totals exact. A site is credited with a block only after the block was stored.
 * A site is debited only by the program that has deleted the block.
 */
#ifndef BPF_BLOCKS_BPF_H
#define BPF_BLOCKS_BPF_H

#include "bpf/block_tables.h"
#include "bpf/compat.bpf.h"

const volatile struct memleak_config config;

/* The first block table. The loader sets max_entries before load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct memleak_block_key);
	__type(value, struct memleak_block);
} blocks SEC(".maps");

/*
 * Contains the second block table, once the loader has created it. The loader creates it late: a
 * hash table allocates its buckets at creation, and few runs have enough blocks to need a second
 * table. The map has no BTF types: kernels before 6.2 would require equal types in the inner map.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_HASH);
			__uint(max_entries, 1);
			__uint(key_size, sizeof(struct memleak_block_key));
			__uint(value_size, sizeof(struct memleak_block));
		});
} more_blocks SEC(".maps");

volatile struct memleak_block_watch block_watch;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct memleak_site);
} sites SEC(".maps");

/* The counting filter, with config.filter_mask + 1 counts. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_filter);
} filter SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MEMLEAK_COUNTER_CNT);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

/* Adds to a per-CPU counter. Atomic: since Linux 6.0, one program can preempt another. */
static __always_inline void count(__u32 which, __s64 by)
{
	__u64 *counter = bpf_map_lookup_elem(&counters, &which);

	if (counter)
		__sync_fetch_and_add(counter, by);
}

/* If quotas are used, the loader sets max_entries to MEMLEAK_QUOTAS + 1. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memleak_quota);
} quotas SEC(".maps");

static __always_inline struct memleak_quota *quota__of(__u32 image)
{
	__u32 at = image % MEMLEAK_QUOTAS;

	return bpf_map_lookup_elem(&quotas, &at);
}

static __always_inline struct memleak_quota *quota__of_all(void)
{
	__u32 at = MEMLEAK_QUOTAS;

	return bpf_map_lookup_elem(&quotas, &at);
}

static __always_inline void quota__add(__u32 image, __s64 by)
{
	struct memleak_quota *quota, *all;

	if (!config.quotas)
		return;
	quota = quota__of(image);
	all = quota__of_all();
	if (quota)
		__sync_fetch_and_add(&quota->stored, by);
	if (all)
		__sync_fetch_and_add(&all->stored, by);
}

/*
 * True if the process has used up its quota; also counts the block as rejected. Blocks added by
 * several CPUs at the same time may exceed the quota slightly.
 */
static __always_inline bool quota__is_full(__u32 image)
{
	struct memleak_quota *quota, *all;
	__s64 left;

	if (!config.quotas)
		return false;
	quota = quota__of(image);
	all = quota__of_all();
	if (!quota || !all)
		return false;
	left = (__s64)config.max_allocs - (__s64)all->stored;
	if (left > 0 && quota->stored < MEMLEAK_QUOTA_FACTOR * (__u64)left)
		return false;
	__sync_fetch_and_add(&quota->rejected, 1);
	return true;
}

/*
 * Adds a block to a site's total (sign 1) or subtracts it (sign -1). Sizes of config.wide_size or
 * more go to wide_bytes.
 */
static __always_inline void site__add(struct memleak_site *site, __u64 size, __s64 sign)
{
	__u64 packed = 1ULL << MEMLEAK_TOTAL_SIZE_BITS;

	if (size >= config.wide_size)
		__sync_fetch_and_add(&site->wide_bytes, sign * size);
	else
		packed += size;
	__sync_fetch_and_add(&site->total.bits, sign * packed);
}

static __always_inline void block__credit(const struct memleak_block *block, __s64 sign)
{
	struct memleak_site *site = bpf_map_lookup_elem(&sites, &block->site);

	if (site)
		site__add(site, block->size, sign);
}

static __always_inline __u32 *filter__find(const struct memleak_block_key *key)
{
	__u32 place = block__hash(key) & config.filter_mask, at = place / MEMLEAK_FILTER_IN_LINE;
	struct memleak_filter *line = bpf_map_lookup_elem(&filter, &at);

	return line ? &line->cnt[place % MEMLEAK_FILTER_IN_LINE] : NULL;
}

/*
 * Adds `by` to a block's count in the counting filter. It is raised before a block is stored in the
 * block table, and lowered after the block is deleted: 0 means that the block is not in the table.
 */
static __always_inline void filter__add(const struct memleak_block_key *key, __s32 by)
{
	__u32 *cnt = filter__find(key);

	if (cnt)
		__sync_fetch_and_add(cnt, by);
}

/* False if the block is certainly not in the block table. Saves most lookups. */
static __always_inline bool table__may_have(const struct memleak_block_key *key)
{
	const volatile __u32 *cnt = filter__find(key);

	return !cnt || *cnt;
}

/* Returns the second block table; NULL if there is only one. */
static __always_inline void *table__second(void)
{
	__u32 at = 0;

	return config.grows ? bpf_map_lookup_elem(&more_blocks, &at) : NULL;
}

/*
 * Removes a block from the block tables, copies it to *ret, and debits its site. Copies first,
 * since a deleted element may be reused immediately. False if no table has the block, or if another
 * program has deleted it first, which then debits the site.
 */
static __always_inline bool table__take(const struct memleak_block_key *key,
					struct memleak_block *ret)
{
	void *second = table__second();
	struct memleak_block *found = second ? bpf_map_lookup_elem(second, key) : NULL;
	int err;

	if (second && found) {
		*ret = *found;
		err = bpf_map_delete_elem(second, key);
	} else {
		found = bpf_map_lookup_elem(&blocks, key);
		if (!found)
			return false;
		*ret = *found;
		err = bpf_map_delete_elem(&blocks, key);
	}
	if (err)
		return false;
	filter__add(key, -1);
	quota__add(key->image, -1);
	block__credit(ret, -1);
	return true;
}

static __always_inline int table__insert(const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	void *second = table__second();
	int err = second ? bpf_map_update_elem(second, key, block, BPF_NOEXIST) : -E2BIG;

	if (err != -E2BIG)
		return err;
	if (config.grows && !block_watch.is_sent)
		__sync_fetch_and_add(&block_watch.stored, 1);
	return bpf_map_update_elem(&blocks, key, block, BPF_NOEXIST);
}

/*
 * Stores a block whose key is not in the block tables; the caller then credits the site. On
 * failure, counts the loss and returns false. Errors are stored as int: on older kernels, the upper
 * half of the register is undefined.
 */
static __always_inline bool table__store(const struct memleak_block_key *key,
					 const struct memleak_block *block)
{
	int err;

	if (quota__is_full(key->image)) {
		count(MEMLEAK_LOST_QUOTA_FULL, 1);
		return false;
	}
	filter__add(key, 1);
	err = table__insert(key, block);
	if (!err) {
		quota__add(key->image, 1);
		return true;
	}
	filter__add(key, -1);
	count(err == -E2BIG ? MEMLEAK_LOST_ALLOCS_FULL : MEMLEAK_LOST_NO_MEMORY, 1);
	return false;
}

#endif
