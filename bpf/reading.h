/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs and loader tell each other while the loader reads the blocks for a report; a part
 * of the ABI.
 */
#ifndef BPF_READING_H
#define BPF_READING_H

#include "bpf/memleak.h"

/*
 * A block that is reallocated while the loader reads the blocks, and keeps its birth, has the
 * number of that reading, which is not to have it again; one that has moved before, but since
 * pictures of memory are taken, has the number of these: in the upper bits of tid, which no
 * thread's number has, and in the lower bits of birth_ns, some microseconds. Numbers begin where
 * the former are not 0.
 */
#define MEMLEAK_TID_BITS 22
#define MEMLEAK_READING_LOW_BITS 14
#define MEMLEAK_READING_FIRST (1U << MEMLEAK_READING_LOW_BITS)
#define MEMLEAK_READING_LAST ((MEMLEAK_READING_FIRST << (32 - MEMLEAK_TID_BITS)) - 1)

static inline __attribute__((always_inline)) __u32 block__tid(const struct memleak_block *block)
{
	return block->tid & ((1U << MEMLEAK_TID_BITS) - 1);
}

/* 0: it was never moved in a reading, or after a picture. */
static inline __attribute__((always_inline)) __u32 block__reading(const struct memleak_block *block)
{
	__u32 upper = block->tid >> MEMLEAK_TID_BITS;

	return upper ? upper << MEMLEAK_READING_LOW_BITS |
			       (block->birth_ns & (MEMLEAK_READING_FIRST - 1))
		     : 0;
}

static inline __attribute__((always_inline)) void block__set_reading(struct memleak_block *block,
								     __u32 reading)
{
	block->tid = block__tid(block) | reading >> MEMLEAK_READING_LOW_BITS << MEMLEAK_TID_BITS;
	block->birth_ns &= ~(__u64)(MEMLEAK_READING_FIRST - 1);
	block->birth_ns |= reading & (MEMLEAK_READING_FIRST - 1);
}

#define MEMLEAK_HANDED_MAX 64

/* A block that is where it would not be met any more; see bpf/user_probes/reading.bpf.h. */
struct memleak_handed {
	struct memleak_block_key key;
	struct memleak_block block;
	__u64 number; /* of the reading; written last */
};

struct memleak_reading {
	__u32 number;     /* of this reading; 0: there is none */
	__u32 read_cnt;   /* buckets of the recent-block cache that have been read */
	__u32 handed_cnt; /* may be more than there was room for */
	__u32 picture; /* the number of pictures that this reading belongs to; 0: there are none */
	struct memleak_handed handed[MEMLEAK_HANDED_MAX];
};

#endif
