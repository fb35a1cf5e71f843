/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data shared by the programs and the loader while the loader reads the blocks for a report. Part
 * of the ABI.
 */
#ifndef BPF_READING_H
#define BPF_READING_H

#include "bpf/memleak.h"

/*
 * Encoding of a reading's number in a block. A block that is reallocated during a reading and keeps
 * its birth time gets the number of that reading, which must not read it again. A block that moved
 * between a memory picture and the reading gets the number of the picture. The number is in the
 * upper bits of tid, which tids do not use, and in the lower bits of birth_ns, where it costs some
 * microseconds. Numbers begin where the upper part is not 0.
 */
#define MEMLEAK_TID_BITS 22
#define MEMLEAK_READING_LOW_BITS 14
#define MEMLEAK_READING_FIRST (1U << MEMLEAK_READING_LOW_BITS)
#define MEMLEAK_READING_LAST ((MEMLEAK_READING_FIRST << (32 - MEMLEAK_TID_BITS)) - 1)

static inline __attribute__((always_inline)) __u32 block__tid(const struct memleak_block *block)
{
	return block->tid & ((1U << MEMLEAK_TID_BITS) - 1);
}

/* Returns the number in a block; 0 if it was never moved during a reading or after a picture. */
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

/* A block stored where the reading has already passed; see bpf/user_probes/reading.bpf.h. */
struct memleak_handed {
	struct memleak_block_key key;
	struct memleak_block block;
	__u64 number; /* number of the reading; written last */
};

struct memleak_reading {
	__u32 number;     /* number of this reading; 0 if there is none */
	__u32 read_cnt;   /* buckets of the recent-block cache that were read */
	__u32 handed_cnt; /* may exceed MEMLEAK_HANDED_MAX */
	__u32 picture;    /* number of the pictures for this reading; 0 if there are none */
	struct memleak_handed handed[MEMLEAK_HANDED_MAX];
};

#endif
