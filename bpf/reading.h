/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data shared by the BPF programs and the loader while it reads the blocks for a report. Part of
 * the ABI.
 */
#ifndef BPF_READING_H
#define BPF_READING_H

#include "bpf/memleak.h"

/*
 * A reading is one pass of the loader over all blocks. A block that is reallocated during a
 * reading, and keeps its birth time, gets the number of that reading, so that the reading does not
 * count the block twice. A proof (--prove) also takes a picture of the process's memory before the
 * reading: a block that realloc() moves between the picture and the reading gets the number of the
 * picture.
 *
 * These constants define how a block stores the number. The upper part is in the unused upper bits
 * of tid; the lower part is in the lower bits of birth_ns, which makes the time wrong by some
 * microseconds. If the upper part is 0, the block has no number.
 */
#define MEMLEAK_TID_BITS 22
#define MEMLEAK_READING_LOW_BITS 14
#define MEMLEAK_READING_FIRST (1U << MEMLEAK_READING_LOW_BITS)
#define MEMLEAK_READING_LAST ((MEMLEAK_READING_FIRST << (32 - MEMLEAK_TID_BITS)) - 1)

static inline __attribute__((always_inline)) __u32 block__tid(const struct memleak_block *block)
{
	return block->tid & ((1U << MEMLEAK_TID_BITS) - 1);
}

/* Returns the number of a reading or picture that is stored in a block; 0 if none. */
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

/* Number of entries of the ring `handed`, a power of two. */
#define MEMLEAK_HANDED_MAX 8192

/* A block that realloc() has stored again during a reading; see bpf/user_probes/reading.bpf.h. */
struct memleak_handed {
	struct memleak_block_key key;
	struct memleak_block block;
	/* address at which the loader may have read the block; 0 if it has not read the block */
	__u64 old_addr;
	__u64 number; /* number of the reading; written last */
};

struct memleak_reading {
	__u32 number;     /* number of the current reading; 0 if there is none */
	__u32 read_cnt;   /* number of buckets of the recent-block cache that the loader has read */
	__u32 picture;    /* number of the current reading's set of pictures; 0 if there is none */
	__u32 handed_cnt; /* number of blocks handed over so far, including those that did not fit
			   */
	__u32 taken_cnt;  /* number of these blocks that the loader has taken out of the ring */
	__u32 reserved;
	__u64 until_ns; /* blocks allocated later are not reported, and not handed over */
	struct memleak_handed handed[MEMLEAK_HANDED_MAX];
};

#endif
