/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account: shared memory that the agent writes in a program and memleak reads. It is sparse,
 * always consistent, and valid after the program has ended. Reading it stops no thread.
 *
 * Blocks are stored in *cells* by address. A *line* of four cells covers 256 bytes of addresses,
 * which is enough in most programs; a full line gets *spills* of eleven more cells. Lines are in
 * *chunks*, created when their addresses are first used. A cell is two words: the first is 0 if the
 * cell is empty, the second is 0 while the cell is being written.
 *
 * Stacks are paths in one *call tree*, shared by all threads. A stack is identified by the number
 * of its innermost frame, whose parent is the frame of its caller. Frames never change, and common
 * parts of stacks are stored once.
 *
 * Sizes are in bytes, times are CLOCK_MONOTONIC. The account belongs to the target, so readers must
 * not trust it.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <linux/types.h>
#include <stddef.h>

#include "bpf/unwind.h"

#define ACCOUNT_MAGIC 0x33746e6567616d6dULL
#define ACCOUNT_NAME "memleak-agent" /* name of the memfd */

#define ACCOUNT_FILTER_BYTES (1U << 16)

/* Lowest descriptor number for an account that memleak has not received from the program. */
#define ACCOUNT_FD 1000

/* Environment variable with memleak's orders to the agent. */
#define ACCOUNT_ENV "MEMLEAK_AGENT"

enum account_region {
	ACCOUNT_THREADS,   /* struct account_thread, by thread number - 1 */
	ACCOUNT_MODULES,   /* struct account_module, by module number */
	ACCOUNT_TEXT,      /* paths of modules, each NUL-terminated */
	ACCOUNT_DIRECTORY, /* chunk number + 1, by address / ACCOUNT_CHUNK_SPAN */
	ACCOUNT_FILTER,    /* number of kept blocks, by hash of their addresses */
	ACCOUNT_EVENTS,    /* struct account_event, by index modulo capacity */
	ACCOUNT_TRACE,     /* struct account_traced, by index modulo capacity */
	/* struct account_range: mappings that result from the events read so far */
	ACCOUNT_RANGES,
	ACCOUNT_FRAMES, /* struct account_frame, by frame number */
	ACCOUNT_SPILLS, /* struct account_spill, by spill number */
	ACCOUNT_CHUNKS, /* struct account_chunk, by chunk number */
	ACCOUNT_REGION_CNT,
};

/* Indexes into lost: what could not be recorded. */
enum account_lost {
	ACCOUNT_LOST_CELLS,     /* blocks dropped because there was no cell */
	ACCOUNT_LOST_STACKS,    /* blocks kept without a stack, for lack of room for frames */
	ACCOUNT_LOST_UNWIND,    /* truncated stacks */
	ACCOUNT_LOST_MAPPINGS,  /* mapping events dropped because the ring was full */
	ACCOUNT_LOST_THREADS,   /* threads beyond the maximum number */
	ACCOUNT_LOST_SIZE,      /* blocks larger than ACCOUNT_SIZE_MAX, recorded with that size */
	ACCOUNT_LOST_TRACED,    /* dropped events of ACCOUNT_TRACES */
	ACCOUNT_LOST_INHERITED, /* dropped events ACCOUNT_EVENT_LEFT and ACCOUNT_EVENT_FREED */
	ACCOUNT_LOST_CNT,
};

/* Functions whose calls are counted for each thread. */
enum account_call {
	ACCOUNT_CALL_MALLOC,
	ACCOUNT_CALL_CALLOC,
	ACCOUNT_CALL_REALLOC,
	ACCOUNT_CALL_REALLOCARRAY,
	ACCOUNT_CALL_ALIGNED,
	ACCOUNT_CALL_POSIX_MEMALIGN,
	ACCOUNT_CALL_NEW,
	ACCOUNT_CALL_MAP,
	ACCOUNT_CALL_UNMAP,
	ACCOUNT_CALL_REMAP,
	ACCOUNT_CALL_CNT,
	ACCOUNT_CALL_FREE = ACCOUNT_CALL_CNT, /* used in struct account_traced only */
};

/* Bits of ways. Once set they stay set, except for ACCOUNT_TRACES and ACCOUNT_TRACES_STACKS. */
#define ACCOUNT_SAMPLES 1U   /* only samples of blocks are kept */
#define ACCOUNT_FILTERS 2U   /* all kept blocks are in the filter */
#define ACCOUNT_ADDS_UP 4U   /* totals are maintained in struct account_sums */
#define ACCOUNT_FORKED 8U    /* children have copies of blocks older than the last fork */
#define ACCOUNT_INHERITS 16U /* the account of a child that has copies of its parent's blocks */
#define ACCOUNT_COUNTS 32U   /* requested bytes and frees are counted */
#define ACCOUNT_TRACES 64U   /* each allocation and free is traced */
#define ACCOUNT_TRACES_STACKS 128U /* frees are traced with their stacks */

/* Sums over blocks, in bytes, written by all threads. peak and highest only increase. */
struct account_sums {
	__s64 outstanding;
	__s64 peak;    /* maximum of outstanding */
	__s64 highest; /* maximum of outstanding + mapped */
	__s64 mapped;  /* mapped bytes, written by memleak */
	/*
	 * Outstanding bytes from before sums were enabled, written by memleak; included in
	 * outstanding.
	 */
	__s64 before;
	__u64 reserved[3];
} __attribute__((aligned(64)));

#define ACCOUNT_EPOCH_BITS 8
#define ACCOUNT_EPOCHS (1U << ACCOUNT_EPOCH_BITS)
#define ACCOUNT_EPOCH(epoch) ((epoch) & (ACCOUNT_EPOCHS - 1))

struct account {
	__u64 magic;
	__u64 bytes;
	__u64 region[ACCOUNT_REGION_CNT]; /* offset of each region, which ends at the next one */
	__u64 end;
	/*
	 * Read by each call, so not in a cache line with fields that are written more often than
	 * when a thread starts.
	 */
	__u32 pid __attribute__((aligned(64)));
	__u32 page_size;
	__u32 epoch; /* current epoch, incremented by memleak and by forks */
	__u32 ways;  /* ACCOUNT_SAMPLES and other bits, set by the agent and by memleak */
	/* Entries in use, here and below: never less than what has been written. */
	__u32 thread_cnt;
	__u32 depth; /* number of frames that truncated stacks have at least */
	/*
	 * Set before ways. Mean bytes per sample; if sample_rate is not 0, one in sample_rate
	 * blocks is sampled instead.
	 */
	__u64 sample_bytes;
	__u64 sample_rate;
	__u64 began_ns;
	__u32 module_cnt __attribute__((aligned(64)));
	__u32 chunk_cnt;
	__u32 spill_cnt;
	__u32 frame_cnt;
	__u64 text_bytes;
	__u64 stack_cnt; /* number of distinct stacks */
	__u64 event_cnt;
	/*
	 * Number of events that memleak has read. Their results are in ranges, and their entries
	 * may be reused.
	 */
	__u64 event_read;
	__u64 range_cnt;
	__u64 lost[ACCOUNT_LOST_CNT];
	struct account_sums sums; /* totals, maintained with ACCOUNT_ADDS_UP */
	/* Calls from before sums were enabled, written by memleak. */
	__u64 calls_before[ACCOUNT_CALL_CNT];
	__u64 traced_cnt;
	/* Number of traced events that memleak has read; their entries may be reused. */
	__u64 traced_read;
	__u64 epoch_ns[ACCOUNT_EPOCHS]; /* start of each of the last epochs */
	__u64 last_fork_ns;
	/* For a child: pid and start of the parent's account, and time of the fork. */
	__u64 parent_began_ns;
	__u64 forked_ns; /* time of the fork, 0 if nothing is inherited */
	__u32 parent_pid;
	__u32 is_bypassed; /* the program calls another malloc() than the agent's */
};

#define ACCOUNT_CACHE_LINE 64U
_Static_assert(offsetof(struct account, depth) / ACCOUNT_CACHE_LINE ==
		       offsetof(struct account, epoch) / ACCOUNT_CACHE_LINE,
	       "what each call reads is in one line");
_Static_assert(offsetof(struct account, module_cnt) % ACCOUNT_CACHE_LINE == 0,
	       "what others write begins another one");

struct account_thread {
	__u32 tid;
	__u32 reserved;
	__u64 calls[ACCOUNT_CALL_CNT];
	__u64 earlier_frees;           /* frees of blocks that are in no cell */
	__u64 failed;                  /* calls that failed */
	__u64 asked[ACCOUNT_CALL_CNT]; /* requested bytes, with ACCOUNT_COUNTS */
	__u64 frees;                   /* number of frees, with ACCOUNT_COUNTS or ACCOUNT_ADDS_UP */
	/* The following fields need ACCOUNT_ADDS_UP. */
	__u64 allocated; /* allocated bytes */
	__u64 largest;   /* largest call, in bytes */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct account_thread) % ACCOUNT_CACHE_LINE == 0,
	       "no two threads write to one line");

#define ACCOUNT_MODULES_MAX (1U << 16)

/* An executable mapping as first seen. Its number is not reused after it is unmapped. */
struct account_module {
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset of start */
	__u64 ino;    /* inode number, 0 if there is no file */
	__u32 dev_major;
	__u32 dev_minor;
	__u64 path; /* offset of its path in the text region */
	__u64 since_ns;
	__u64 reserved;
};

struct account_frame {
	__u64 frame; /* frame as in bpf/memleak.h, with module numbers as file numbers */
	/* Number of the caller's frame, which is smaller than this one's, or how the stack ends. */
	__u32 parent;
	/*
	 * Frames with the same parent form a binary trie by hash: first is the root of this frame's
	 * children, next are the branches below this frame among its siblings.
	 */
	__u32 first;
	__u32 next[2];
};

#define ACCOUNT_STACK_BITS 24
/* Parent of an outermost frame: how the walk ended, an enum unwind_end. */
#define ACCOUNT_STACK_END(end) (1U + (end))
#define ACCOUNT_STACK_ENDS ACCOUNT_STACK_END(UNWIND_END_CNT)
/* Stack number of blocks whose stack is unknown. */
#define ACCOUNT_NO_STACK ACCOUNT_STACK_END(UNWIND_END_UNKNOWN)

/* First word of a cell. */
#define ACCOUNT_SIZE_BITS 35
#define ACCOUNT_SIZE_MAX ((1ULL << ACCOUNT_SIZE_BITS) - 1)
#define ACCOUNT_CELL(stack, size, position)                                                        \
	((__u64)(position) << 59 | (__u64)(size) << ACCOUNT_STACK_BITS | (stack))
#define ACCOUNT_CELL_STACK(word) ((__u32)((word) & ((1U << ACCOUNT_STACK_BITS) - 1)))
#define ACCOUNT_CELL_SIZE(word) ((word) >> ACCOUNT_STACK_BITS & ACCOUNT_SIZE_MAX)
#define ACCOUNT_CELL_POSITION(word) ((__u32)((word) >> 59))

/*
 * Second word of a cell: birth in units of 2^22 ns, sample bit, epoch, thread number. The birth has
 * the resolution of the kernel's tick. memleak and each fork begin a new epoch, which orders births
 * within one tick.
 */
#define ACCOUNT_THREAD_BITS 20
#define ACCOUNT_SAMPLE_SHIFT (ACCOUNT_THREAD_BITS + ACCOUNT_EPOCH_BITS)
#define ACCOUNT_BIRTH_SHIFT (ACCOUNT_SAMPLE_SHIFT + 1)
#define ACCOUNT_BIRTH_NS_SHIFT 22
#define ACCOUNT_TICK_NS 15000000ULL /* maximum error of births, which are too early */
#define ACCOUNT_BIRTH(time_ns) ((time_ns) >> ACCOUNT_BIRTH_NS_SHIFT)
#define ACCOUNT_LIFE(birth, epoch, thread)                                                         \
	((birth) << ACCOUNT_BIRTH_SHIFT | (__u64)ACCOUNT_EPOCH(epoch) << ACCOUNT_THREAD_BITS |     \
	 (thread))
#define ACCOUNT_LIFE_SAMPLE (1ULL << ACCOUNT_SAMPLE_SHIFT)
#define ACCOUNT_LIFE_BIRTH_NS(word) ((word) >> ACCOUNT_BIRTH_SHIFT << ACCOUNT_BIRTH_NS_SHIFT)
#define ACCOUNT_LIFE_EPOCH(word) ACCOUNT_EPOCH((__u32)((word) >> ACCOUNT_THREAD_BITS))
#define ACCOUNT_LIFE_THREAD(word) ((__u32)((word) & ((1U << ACCOUNT_THREAD_BITS) - 1)))

struct account_cell {
	__u64 block;
	__u64 life;
} __attribute__((aligned(16)));

#define ACCOUNT_LINE_CELLS 4U
#define ACCOUNT_LINE_SPAN 256U
#define ACCOUNT_POSITION_SPAN 8U /* minimum distance between blocks of any allocator */
#define ACCOUNT_SPILL_CELLS 11U
#define ACCOUNT_SPILLS_MAX 3U /* maximum spills per line: enough for a cell at each position */

struct account_line {
	struct account_cell cells[ACCOUNT_LINE_CELLS];
} __attribute__((aligned(64)));

struct account_spill {
	struct account_cell cells[ACCOUNT_SPILL_CELLS];
	__u32 next; /* spill number + 1, 0 if there is none */
	__u32 reserved;
	/*
	 * Line number, set before the first block. An address here would count as a pointer in a
	 * proof.
	 */
	__u64 line;
} __attribute__((aligned(64)));

#define ACCOUNT_CHUNK_SPAN_BITS 26
#define ACCOUNT_CHUNK_SPAN (1ULL << ACCOUNT_CHUNK_SPAN_BITS)
#define ACCOUNT_CHUNK_LINES (ACCOUNT_CHUNK_SPAN / ACCOUNT_LINE_SPAN)
#define ACCOUNT_ADDRESS_BITS 48

struct account_chunk {
	struct account_line lines[ACCOUNT_CHUNK_LINES];
	__u32 spills[ACCOUNT_CHUNK_LINES]; /* spill number + 1, 0 if there is none */
	__u64 base;                        /* first address covered by the chunk */
	__u64 reserved[511];
};

/*
 * Types with the meaning of the records of the same name in bpf/memleak.h, and types for inherited
 * blocks.
 */
enum account_event_type {
	ACCOUNT_EVENT_MAP = 1,
	ACCOUNT_EVENT_TAKE,
	ACCOUNT_EVENT_UNTAKE,
	ACCOUNT_EVENT_GONE,
	ACCOUNT_EVENT_MOVE,
	ACCOUNT_EVENT_FORK, /* a fork at time_ns */
	/* Free of a block that a child may have, too: len, stack and flags contain its cell. */
	ACCOUNT_EVENT_LEFT,
	/* Free of an address in no cell: a child may have freed an inherited block. */
	ACCOUNT_EVENT_FREED,
};

#define ACCOUNT_MAP_NO_ACCESS 1U /* mapped with PROT_NONE */
#define ACCOUNT_MAP_STACK 2U     /* mapped with MAP_STACK */
#define ACCOUNT_MAP_SAMPLE 4U    /* the mapping is a sample */

struct account_event {
	__u64 number; /* index + 1 once the event is complete */
	__u32 type;
	__u32 thread;
	__u64 time_ns;
	__u64 addr;
	__u64 len;
	__u32 stack;
	__u32 flags; /* MAP: ACCOUNT_MAP_*; TAKE: 1 if the old range stays mapped */
};

#define ACCOUNT_TRACED_FREE 1U
#define ACCOUNT_SIZE_UNKNOWN (~0ULL) /* size of a freed block that is in no cell */

/* A traced allocation or free. */
struct account_traced {
	__u64 number; /* index + 1 once the entry is complete */
	__u64 time_ns;
	__u64 addr;
	__u64 size;
	__u32 stack;
	__u32 thread;
	__u32 call; /* enum account_call */
	__u32 flags;
};

#define ACCOUNT_RANGE_SAMPLE (1ULL << 32)

/* A mapping, kept for a memleak that attaches later: struct range of loader/target. */
struct account_range {
	__u64 start;
	__u64 end;
	__u64 stack; /* stack number and ACCOUNT_RANGE_SAMPLE */
	__u64 birth_ns;
	__u64 mapped_size;
	__u64 placed_ns;
	__u32 tid;
	__u32 kind;
	__u32 reserved;
	__u32 unused;
};

/*
 * Returns the maximum size of a region, in bytes. Readers read no more. The last two regions may be
 * smaller.
 */
static inline __u64 account_region_most(enum account_region which)
{
	static const __u64 most[ACCOUNT_REGION_CNT] = {
		[ACCOUNT_THREADS] = sizeof(struct account_thread) << ACCOUNT_THREAD_BITS,
		[ACCOUNT_MODULES] = sizeof(struct account_module) * ACCOUNT_MODULES_MAX,
		[ACCOUNT_TEXT] = 64ULL << 20,
		[ACCOUNT_DIRECTORY] = 4ULL << (ACCOUNT_ADDRESS_BITS - ACCOUNT_CHUNK_SPAN_BITS),
		[ACCOUNT_FILTER] = ACCOUNT_FILTER_BYTES,
		[ACCOUNT_EVENTS] = sizeof(struct account_event) << 20,
		[ACCOUNT_TRACE] = sizeof(struct account_traced) << 20,
		[ACCOUNT_RANGES] = sizeof(struct account_range) << 20,
		[ACCOUNT_FRAMES] = sizeof(struct account_frame) << ACCOUNT_STACK_BITS,
		[ACCOUNT_SPILLS] = 16ULL << 30,
		[ACCOUNT_CHUNKS] = sizeof(struct account_chunk) * 4096,
	};

	return most[which];
}

#endif
