/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where blocks are besides the hash table, found by their hash: the recent-block cache, the
 * counting filter, and the per-process quotas; a part of the ABI.
 */
#ifndef BPF_BLOCK_TABLES_H
#define BPF_BLOCK_TABLES_H

#include "bpf/memleak.h"

/* The hash that says in which bucket and at which count of the filter a block is. */
static inline __attribute__((always_inline)) __u32 block__hash(const struct memleak_block_key *key)
{
	return hash_mix(key->addr, key->image) >> 32;
}

/* The recent-block cache: blocks that were allocated a moment ago; see bpf/recent_blocks.bpf.h. */
#define MEMLEAK_RECENT_BLOCKS 6

/* In the low bits of a block's word: */
#define MEMLEAK_RECENT_WRITING 1ULL /* the block is not all there yet */
#define MEMLEAK_RECENT_MOVING 2ULL  /* the block is alive, and may be in the table, too */
#define MEMLEAK_RECENT_DEAD 3ULL    /* the block was freed on its way to the table */
#define MEMLEAK_RECENT_STATES 7ULL

struct memleak_recent_block {
	__u64 size;
	__u64 birth_ns;
	__u64 site;
	__u32 tid;
	__u32 image;
};

/* The blocks of one hash. The words fill a cache line with what else is read to find a block. */
struct memleak_recent {
	__u64 words[MEMLEAK_RECENT_BLOCKS]; /* address and state; 0: none */
	__u64 oldest;                       /* the place that is to make room */
	__u64 reserved;
	struct memleak_recent_block blocks[MEMLEAK_RECENT_BLOCKS];
};

#define MEMLEAK_FILTER_IN_LINE 16

/* The counting filter: how many blocks the table has, by hash. */
struct memleak_filter {
	__u32 cnt[MEMLEAK_FILTER_IN_LINE];
};

/*
 * With quotas, a process may have MEMLEAK_QUOTA_FACTOR times as many blocks of the table as are
 * free: one process alone fills four fifths of it, each of two four ninths, and one that comes late
 * finds room. The method: Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches, 1998.
 */
#define MEMLEAK_QUOTA_FACTOR 4

/*
 * By the low bits of the image: two images that live long may have to share a quota. The last quota
 * is of all images together.
 */
#define MEMLEAK_QUOTAS 16384

struct memleak_quota {
	__u64 held;    /* blocks that it has in the table */
	__u64 refused; /* blocks for which there was no room */
};

#endif
