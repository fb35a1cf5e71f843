/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables that blocks are in besides the hash table, by their hash; a part of the ABI. */
#ifndef MEMLEAK_BLOCK_TABLES_H
#define MEMLEAK_BLOCK_TABLES_H

#include "bpf/memleak.h"

/* Of which bucket and which count a block is. */
static inline __attribute__((always_inline)) __u32 block__hash(const struct memleak_block_key *key)
{
	return hash_mix(key->addr, key->image) >> 32;
}

/* Blocks that were allocated a moment ago; see bpf/young.bpf.h. */
#define MEMLEAK_YOUNG_BLOCKS 6

/* In the low bits of a block's word. */
#define MEMLEAK_YOUNG_WRITING 1ULL /* it is not all there yet */
#define MEMLEAK_YOUNG_MOVING 2ULL  /* it is alive, and may be in the table, too */
#define MEMLEAK_YOUNG_DEAD 3ULL    /* the same, but it was freed on the way */
#define MEMLEAK_YOUNG_STATES 7ULL

struct memleak_young_block {
	__u64 size;
	__u64 birth_ns;
	__u64 site;
	__u32 tid;
	__u32 image;
};

/* Those of one hash; the words are a cache line with what else is read to find a block. */
struct memleak_young {
	__u64 words[MEMLEAK_YOUNG_BLOCKS]; /* address and state; 0: none */
	__u64 oldest;                      /* the place that is to make room */
	__u64 reserved;
	struct memleak_young_block blocks[MEMLEAK_YOUNG_BLOCKS];
};

#define MEMLEAK_HELD_IN_LINE 16

/* How many blocks the table has, by hash. */
struct memleak_held {
	__u32 cnt[MEMLEAK_HELD_IN_LINE];
};

/*
 * Of the table of blocks a process may have, if there are shares, MEMLEAK_SHARE_FACTOR times what
 * is left: one alone fills four fifths of it, of two each four ninths; who comes late finds room.
 * The method: Choudhury and Hahne, Dynamic Queue Length Thresholds for Shared-Memory Packet
 * Switches, 1998.
 */
#define MEMLEAK_SHARE_FACTOR 4

/* By the low bits of the image: two that live long may have to share one. The last is of all. */
#define MEMLEAK_SHARES 16384

struct memleak_share {
	__u64 held;    /* blocks of the table */
	__u64 refused; /* for want of room */
};

#endif
