/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account that the agent keeps in a program, and memleak reads: shared memory, sparse, valid at
 * any moment and after the program has ended. Nobody is stopped for it.
 *
 * Blocks stand in *cells* by address. A *line* of four cells is for 256 bytes of addresses, which
 * few programs fill with more blocks; a line that is full has *spills* of eleven more. Lines are
 * in *chunks*, made when their addresses are first met. A cell is two words. The
 * first is 0 when no block is there, the second when it is only just being written.
 *
 * Stacks are paths in one *call tree*, for all threads. A stack is told by the number of its
 * innermost frame, whose parent is the frame of its caller. Frames never change, and what stacks
 * have in common is there once.
 *
 * Sizes are bytes, times CLOCK_MONOTONIC. All of it is the target's, and so hostile to who reads
 * it.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <linux/types.h>
#include <stddef.h>

#include "bpf/unwind.h"

#define ACCOUNT_MAGIC 0x33746e6567616d6dULL
#define ACCOUNT_NAME "memleak-agent" /* of the file in memory */

#define ACCOUNT_FILTER_BYTES (1U << 16)

/* Its descriptor, or one not far above, in a program that has not been started by memleak. */
#define ACCOUNT_FD 1000

/* What says to the agent, in the environment, how it is to begin. */
#define ACCOUNT_ENV "MEMLEAK_AGENT"

enum account_region {
	ACCOUNT_THREADS,   /* struct account_thread, by number - 1 */
	ACCOUNT_MODULES,   /* struct account_module, by number */
	ACCOUNT_TEXT,      /* paths of modules, each with a NUL */
	ACCOUNT_DIRECTORY, /* number + 1 of the chunk by address / ACCOUNT_CHUNK_SPAN */
	ACCOUNT_FILTER,    /* how many blocks are kept, by hash of their addresses */
	ACCOUNT_EVENTS,    /* struct account_event, by index modulo their number */
	ACCOUNT_TRACE,     /* struct account_traced, by index modulo their number */
	ACCOUNT_RANGES,    /* struct account_range: what the events that are read have led to */
	ACCOUNT_FRAMES,    /* struct account_frame, by number */
	ACCOUNT_SPILLS,    /* struct account_spill, by number */
	ACCOUNT_CHUNKS,    /* struct account_chunk, by number */
	ACCOUNT_REGION_CNT,
};

/* Whatever was not kept: indexes into lost. */
enum account_lost {
	ACCOUNT_LOST_CELLS,     /* blocks for which there was no room */
	ACCOUNT_LOST_STACKS,    /* the same for frames: the block is kept, without a stack */
	ACCOUNT_LOST_UNWIND,    /* stacks that were cut when they were walked */
	ACCOUNT_LOST_MAPPINGS,  /* events of mappings */
	ACCOUNT_LOST_THREADS,   /* threads beyond the last number */
	ACCOUNT_LOST_SIZE,      /* blocks that count for less than they have: ACCOUNT_SIZE_MAX */
	ACCOUNT_LOST_TRACED,    /* events of ACCOUNT_TRACES */
	ACCOUNT_LOST_INHERITED, /* frees that tell who has copies: ACCOUNT_EVENT_LEFT, _FREED */
	ACCOUNT_LOST_CNT,
};

/* What is counted of calls, by thread. */
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
	ACCOUNT_CALL_FREE = ACCOUNT_CALL_CNT, /* of account_traced alone */
};

/* What the agent is to do besides: bits that are only ever set, but for those of traces. */
#define ACCOUNT_SAMPLES 1U   /* not every block is kept */
#define ACCOUNT_FILTERS 2U   /* all that are kept are in the filter */
#define ACCOUNT_ADDS_UP 4U   /* sums are kept */
#define ACCOUNT_FORKED 8U    /* children have copies of blocks that are older than the last fork */
#define ACCOUNT_INHERITS 16U /* it is a child's, which has copies of its parent's blocks */
#define ACCOUNT_COUNTS 32U   /* it is counted what calls ask for, and frees */
#define ACCOUNT_TRACES 64U   /* each allocation and free is told */
#define ACCOUNT_TRACES_STACKS 128U /* and with who frees */

/* Of blocks, in bytes; each but the first is only ever raised. Written by all threads. */
struct account_sums {
	__s64 outstanding;
	__s64 peak;    /* the most that was outstanding */
	__s64 highest; /* the same with what is mapped */
	__s64 mapped;  /* by memleak, as the next */
	__s64 before;  /* was there when sums were begun: it is in outstanding */
	__u64 reserved[3];
} __attribute__((aligned(64)));

#define ACCOUNT_EPOCH_BITS 8
#define ACCOUNT_EPOCHS (1U << ACCOUNT_EPOCH_BITS)
#define ACCOUNT_EPOCH(epoch) ((epoch) & (ACCOUNT_EPOCHS - 1))

struct account {
	__u64 magic;
	__u64 bytes;
	__u64 region[ACCOUNT_REGION_CNT]; /* where each begins; the next one is where it ends */
	__u64 end;
	/* What each call reads stands apart from what others write more often than threads begin.
	 */
	__u32 pid __attribute__((aligned(64)));
	__u32 page_size;
	__u32 epoch; /* by memleak and by forks */
	__u32 ways;  /* by memleak, as samples: ACCOUNT_SAMPLES and so on */
	/* How much is in use, here and below: never less than what has been written. */
	__u32 thread_cnt;
	__u32 depth; /* stacks that were cut have at least so many frames */
	/* Set before ways: a sample in so many bytes, or, unless this is 0, in so many blocks. */
	__u64 sample_bytes;
	__u64 sample_rate;
	__u64 began_ns;
	__u32 module_cnt __attribute__((aligned(64)));
	__u32 chunk_cnt;
	__u32 spill_cnt;
	__u32 frame_cnt;
	__u64 text_bytes;
	__u64 stack_cnt; /* how many stacks have ended in a frame that is new */
	__u64 event_cnt;
	/* By memleak, which has written into ranges what they have led to: others take their place.
	 */
	__u64 event_read;
	__u64 range_cnt;
	__u64 lost[ACCOUNT_LOST_CNT];
	struct account_sums sums; /* with ACCOUNT_ADDS_UP */
	/* Before sums were begun; by memleak. */
	__u64 calls_before[ACCOUNT_CALL_CNT];
	__u64 traced_cnt;
	__u64 traced_read;              /* by memleak: others take the place of what it has read */
	__u64 epoch_ns[ACCOUNT_EPOCHS]; /* when each of the last began */
	__u64 last_fork_ns;
	/* Of what it inherits from: that account's pid and beginning, and when it was forked. */
	__u64 parent_began_ns;
	__u64 forked_ns; /* 0: it begins empty */
	__u32 parent_pid;
	__u32 is_bypassed; /* what the program calls is another allocator than the agent's */
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
	__u64 earlier_frees;           /* of blocks that are in no cell */
	__u64 failed;                  /* calls that gave nothing */
	__u64 asked[ACCOUNT_CALL_CNT]; /* bytes; with ACCOUNT_COUNTS */
	__u64 frees;                   /* the same, and with ACCOUNT_ADDS_UP */
	/* With that: */
	__u64 allocated; /* bytes */
	__u64 largest;   /* call, in bytes */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct account_thread) % ACCOUNT_CACHE_LINE == 0,
	       "no two threads write to one line");

#define ACCOUNT_MODULES_MAX (1U << 16)

/* Executable memory as it was met first. Its number stays with it, also when it is gone. */
struct account_module {
	__u64 start;
	__u64 end;
	__u64 offset; /* of start in the file */
	__u64 ino;    /* 0: of no file */
	__u32 dev_major;
	__u32 dev_minor;
	__u64 path; /* its place in the text */
	__u64 since_ns;
	__u64 reserved;
};

struct account_frame {
	__u64 frame;  /* as in bpf/memleak.h; file numbers are modules' */
	__u32 parent; /* the caller's number, which is smaller; or how the stack ends */
	/* The frames that have this parent are a digital search tree, by a hash of what they are.
	 */
	__u32 first;
	__u32 next[2];
};

#define ACCOUNT_STACK_BITS 24
/* In the place of the outermost frame's parent: how the walk ended, an enum unwind_end. */
#define ACCOUNT_STACK_END(end) (1U + (end))
#define ACCOUNT_STACK_ENDS ACCOUNT_STACK_END(UNWIND_END_CNT)
/* The stack of blocks that have none. */
#define ACCOUNT_NO_STACK ACCOUNT_STACK_END(UNWIND_END_UNKNOWN)

/* The first word of a cell. */
#define ACCOUNT_SIZE_BITS 35
#define ACCOUNT_SIZE_MAX ((1ULL << ACCOUNT_SIZE_BITS) - 1)
#define ACCOUNT_CELL(stack, size, position)                                                        \
	((__u64)(position) << 59 | (__u64)(size) << ACCOUNT_STACK_BITS | (stack))
#define ACCOUNT_CELL_STACK(word) ((__u32)((word) & ((1U << ACCOUNT_STACK_BITS) - 1)))
#define ACCOUNT_CELL_SIZE(word) ((word) >> ACCOUNT_STACK_BITS & ACCOUNT_SIZE_MAX)
#define ACCOUNT_CELL_POSITION(word) ((__u32)((word) >> 59))

/*
 * The second word: the birth, in units of 2^22 ns, whether it is a sample, the epoch, and the
 * number of the thread. The birth is of the clock's last tick; epochs, which memleak begins and
 * each fork, tell what came before and after within one.
 */
#define ACCOUNT_THREAD_BITS 20
#define ACCOUNT_SAMPLE_SHIFT (ACCOUNT_THREAD_BITS + ACCOUNT_EPOCH_BITS)
#define ACCOUNT_BIRTH_SHIFT (ACCOUNT_SAMPLE_SHIFT + 1)
#define ACCOUNT_BIRTH_NS_SHIFT 22
#define ACCOUNT_TICK_NS 15000000ULL /* births are no more than that too early */
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
#define ACCOUNT_POSITION_SPAN 8U /* no allocator gives two blocks in so few bytes */
#define ACCOUNT_SPILL_CELLS 11U
#define ACCOUNT_SPILLS_MAX 3U /* of a line: then each position has a cell */

struct account_line {
	struct account_cell cells[ACCOUNT_LINE_CELLS];
} __attribute__((aligned(64)));

struct account_spill {
	struct account_cell cells[ACCOUNT_SPILL_CELLS];
	__u32 next; /* number + 1; 0: none */
	__u32 reserved;
	/* Which line it is for, before any block is in it; an address would be one to a proof. */
	__u64 line;
} __attribute__((aligned(64)));

#define ACCOUNT_CHUNK_SPAN_BITS 26
#define ACCOUNT_CHUNK_SPAN (1ULL << ACCOUNT_CHUNK_SPAN_BITS)
#define ACCOUNT_CHUNK_LINES (ACCOUNT_CHUNK_SPAN / ACCOUNT_LINE_SPAN)
#define ACCOUNT_ADDRESS_BITS 48

struct account_chunk {
	struct account_line lines[ACCOUNT_CHUNK_LINES];
	__u32 spills[ACCOUNT_CHUNK_LINES]; /* number + 1; 0: none */
	__u64 base;                        /* the first address */
	__u64 reserved[511];
};

/* As the records of bpf/memleak.h of the same names, and what children inherit. */
enum account_event_type {
	ACCOUNT_EVENT_MAP = 1,
	ACCOUNT_EVENT_TAKE,
	ACCOUNT_EVENT_UNTAKE,
	ACCOUNT_EVENT_GONE,
	ACCOUNT_EVENT_MOVE,
	ACCOUNT_EVENT_FORK,  /* at time_ns */
	ACCOUNT_EVENT_LEFT,  /* a block that a child may have was freed: len, stack and flags have
				its cell */
	ACCOUNT_EVENT_FREED, /* what is in no cell: a child has freed what it inherited */
};

#define ACCOUNT_MAP_NO_ACCESS 1U /* PROT_NONE */
#define ACCOUNT_MAP_STACK 2U     /* MAP_STACK */
#define ACCOUNT_MAP_SAMPLE 4U    /* it is a sample */

struct account_event {
	__u64 number; /* its index + 1, once it is written */
	__u32 type;
	__u32 thread;
	__u64 time_ns;
	__u64 addr;
	__u64 len;
	__u32 stack;
	__u32 flags; /* MAP: ACCOUNT_MAP_*; TAKE: 1: the old range stays mapped */
};

#define ACCOUNT_TRACED_FREE 1U
#define ACCOUNT_SIZE_UNKNOWN (~0ULL) /* a block that is in no cell is freed */

/* One allocation or free, of who is traced. */
struct account_traced {
	__u64 number; /* its index + 1, once it is written */
	__u64 time_ns;
	__u64 addr;
	__u64 size;
	__u32 stack;
	__u32 thread;
	__u32 call; /* enum account_call */
	__u32 flags;
};

#define ACCOUNT_RANGE_SAMPLE (1ULL << 32)

/* What is mapped, as memleak keeps it for who joins later: struct range of loader/target. */
struct account_range {
	__u64 start;
	__u64 end;
	__u64 stack; /* and ACCOUNT_RANGE_SAMPLE */
	__u64 birth_ns;
	__u64 mapped_size;
	__u64 placed_ns;
	__u32 tid;
	__u32 kind;
	__u32 reserved;
	__u32 unused;
};

/* A region is never larger, and so neither is what is read of it. Of the last two there may be
 * less.
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
