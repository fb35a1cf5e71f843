/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables used in addition to the block table: the recent-block cache, the counting filter and the
 * per-process quotas. Part of the ABI.
 */
#ifndef BPF_BLOCK_TABLES_H
#define BPF_BLOCK_TABLES_H

#include "bpf/memleak.h"

/*
 * Returns a block's hash. It selects the block's bucket in the recent-block cache, and the block's
 * count in the counting filter.
 */
static inline __attribute__((always_inline)) __u32 block__hash(const struct memleak_block_key *key)
{
	return hash_mix(key->addr, key->image) >> 32;
}

/* Number of blocks in a bucket of the recent-block cache; see bpf/recent_blocks.bpf.h. */
#define MEMLEAK_RECENT_BLOCKS 6

/* States of a block in the recent-block cache, stored in the low bits of its word. */
#define MEMLEAK_RECENT_WRITING 1ULL /* the block is not completely written yet */
#define MEMLEAK_RECENT_MOVING 2ULL  /* being moved to the block table; may be there */
#define MEMLEAK_RECENT_DEAD 3ULL    /* freed while being moved to the block table */
#define MEMLEAK_RECENT_STATES 7ULL

struct memleak_recent_block {
	__u64 size;
	__u64 birth_ns;
	__u64 site;
	__u32 tid;
	__u32 image;
};

/*
 * A bucket of the recent-block cache. `words` and `oldest` share one cache line, so a search for an
 * address reads only that.
 */
struct memleak_recent {
	/* address and state of each block; 0 if its place is free */
	__u64 words[MEMLEAK_RECENT_BLOCKS];
	__u64 oldest; /* index of the block that is evicted next */
	__u64 reserved;
	struct memleak_recent_block blocks[MEMLEAK_RECENT_BLOCKS];
};

#define MEMLEAK_FILTER_IN_LINE 16

/* The counting filter: for each hash, the number of blocks in the block table. */
struct memleak_filter {
	__u32 cnt[MEMLEAK_FILTER_IN_LINE];
};

/*
 * With quotas, a process may have MEMLEAK_QUOTA_FACTOR times as many blocks as the block table has
 * free entries. So one process alone can fill four fifths of the table, two processes four ninths
 * each, and a new process always finds room. Method: Choudhury and Hahne, Dynamic Queue Length
 * Thresholds for Shared-Memory Packet Switches, 1998.
 */
#define MEMLEAK_QUOTA_FACTOR 4

/*
 * Number of quotas. The low bits of an image's number select its quota, so two images may share
 * one. One more quota counts the blocks of all images.
 */
#define MEMLEAK_QUOTAS 16384

struct memleak_quota {
	__u64 stored;   /* number of the image's blocks in the block table */
	__u64 rejected; /* number of blocks rejected because the quota was used up */
};

#endif
