/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account: shared memory that records the blocks of a traced program. The agent, a library in
 * the program, writes it, and memleak reads it without stopping any thread. The account is sparse,
 * always consistent, and remains valid after the program has ended.
 *
 * Each block is recorded in a *cell*, found by the block's address. A *line* covers 256 bytes of
 * addresses. It has four cells, which are enough in most programs; a full line gets *spills*, each
 * with eleven more cells. Lines are in *chunks*, created when their addresses are first used. A
 * cell is two words: the first is 0 if the cell is empty, the second is 0 while the cell is being
 * written.
 *
 * All threads share one *call tree*; each stack is a path in it. A stack is identified by the
 * number of its innermost frame; a frame's parent is its caller. Frames never change. A path first
 * has all script frames, then all native frames, each from the innermost to the outermost; memleak
 * inserts the script frames between the native frames.
 *
 * Sizes are in bytes, times are CLOCK_MONOTONIC. The traced program can write anything into its
 * account, so readers must not trust it.
 */
#ifndef AGENT_ACCOUNT_H
#define AGENT_ACCOUNT_H

#include <linux/types.h>
#include <stddef.h>

#include "bpf/memleak.h"
#include "bpf/unwind.h"

#define ACCOUNT_MAGIC 0x39746e6567616d6dULL
#define ACCOUNT_NAME "memleak-agent" /* name of the account's memfd */

#define ACCOUNT_FILTER_BYTES (1U << 16)

/*
 * Lowest descriptor number for the account in the program. Used if the agent could not send the
 * descriptor to memleak, and the program's limits allow it.
 */
#define ACCOUNT_FD 1000

/* Environment variable by which memleak passes options to the agent. */
#define ACCOUNT_ENV "MEMLEAK_AGENT"

enum account_region {
	ACCOUNT_THREADS, /* struct account_thread, indexed by thread number - 1 */
	ACCOUNT_MODULES, /* struct account_module, indexed by module number */
	ACCOUNT_TEXT,    /* paths of modules, each NUL-terminated */
	/* ring buffer of __u64: start times of the most recent epochs, indexed by epoch */
	ACCOUNT_EPOCH_TIMES,
	/* indexed by address / ACCOUNT_CHUNK_SPAN: chunk number + 1, 0 if there is no chunk */
	ACCOUNT_DIRECTORY,
	ACCOUNT_FILTER, /* numbers of recorded blocks, indexed by a hash of the address */
	ACCOUNT_EVENTS, /* ring buffer of struct account_event */
	ACCOUNT_TRACE,  /* ring buffer of struct account_traced */
	/* struct account_range: the program's mappings, computed by memleak from events */
	ACCOUNT_RANGES,
	/* hash table of __u32: ACCOUNT_SCRIPT_CODE() of each copied code object, or 0 */
	ACCOUNT_CODE_TABLE,
	ACCOUNT_CODES,  /* struct account_code, each followed by the copy of a code object */
	ACCOUNT_FRAMES, /* struct account_frame, indexed by frame number */
	ACCOUNT_SPILLS, /* struct account_spill, indexed by spill number */
	ACCOUNT_CHUNKS, /* struct account_chunk, indexed by chunk number */
	ACCOUNT_REGION_CNT,
};

/* Indexes into account.lost, which counts data that could not be recorded. */
enum account_lost {
	ACCOUNT_LOST_CELLS, /* blocks dropped because no cell was free */
	/* blocks whose stack or script frames were dropped for lack of room */
	ACCOUNT_LOST_STACKS,
	ACCOUNT_LOST_UNWIND,   /* distinct stacks whose outer callers were not found */
	ACCOUNT_LOST_MAPPINGS, /* mapping and fork events dropped because the ring was full */
	ACCOUNT_LOST_THREADS,  /* allocator calls by threads beyond the maximum number of threads */
	ACCOUNT_LOST_SIZE,     /* blocks larger than ACCOUNT_SIZE_MAX, recorded with that size */
	ACCOUNT_LOST_TRACED,   /* traced calls dropped because the ring was full */
	/* dropped ACCOUNT_EVENT_FREED_SHARED and ACCOUNT_EVENT_FREED_INHERITED */
	ACCOUNT_LOST_INHERITED,
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
	ACCOUNT_CALL_FREE = ACCOUNT_CALL_CNT, /* free() or delete, only in struct account_traced */
};

/* Bits of account.modes. Only ACCOUNT_TRACES and ACCOUNT_TRACES_STACKS are ever cleared. */
#define ACCOUNT_SAMPLES 1U         /* only a sample of all blocks is recorded */
#define ACCOUNT_FILTERS 2U         /* recorded blocks are counted in ACCOUNT_FILTER */
#define ACCOUNT_ADDS_UP 4U         /* totals are maintained in struct account_sums */
#define ACCOUNT_FORKED 8U          /* forked children may have copies of this process's blocks */
#define ACCOUNT_INHERITS 16U       /* this is a forked child with copies of its parent's blocks */
#define ACCOUNT_COUNTS 32U         /* requested bytes and number of frees are counted */
#define ACCOUNT_TRACES 64U         /* each allocation and free is traced */
#define ACCOUNT_TRACES_STACKS 128U /* frees are traced with their stacks */

/*
 * Sums over all blocks, in bytes, written by all threads. The fields `peak` and `highest` never
 * decrease.
 */
struct account_sums {
	__s64 outstanding;
	__s64 peak;    /* maximum of `outstanding` */
	__s64 highest; /* maximum of the sum of `outstanding` and `mapped` */
	__s64 mapped;  /* mapped bytes, written by memleak */
	/*
	 * Bytes outstanding when ACCOUNT_ADDS_UP was set, included in `outstanding`. Written by
	 * memleak.
	 */
	__s64 before;
	__u64 reserved[3];
} __attribute__((aligned(64)));

#define ACCOUNT_EPOCH_BITS 8 /* number of low bits of the epoch number that a block stores */
#define ACCOUNT_EPOCHS (1U << ACCOUNT_EPOCH_BITS)
#define ACCOUNT_EPOCH(epoch) ((epoch) & (ACCOUNT_EPOCHS - 1))

struct account {
	__u64 magic;
	__u64 bytes;
	/* offset of each region; a region ends where the next one begins */
	__u64 region[ACCOUNT_REGION_CNT];
	__u64 end;
	/*
	 * Each allocator call reads the following fields. To keep these reads fast, no field in
	 * their cache line changes often.
	 */
	__u32 pid __attribute__((aligned(64)));
	__u32 page_size;
	__u32 epoch; /* number of the current epoch, incremented at forks and by memleak */
	__u32 modes; /* bits such as ACCOUNT_SAMPLES, set by the agent and by memleak */
	/*
	 * thread_cnt, module_cnt, chunk_cnt etc. are the numbers of entries in use. Each is
	 * increased before the new entry is written.
	 */
	__u32 thread_cnt;
	__u32 depth; /* minimum number of frames that a truncated stack keeps */
	/*
	 * The fields sample_bytes and sample_rate are set before ACCOUNT_SAMPLES is set in modes.
	 * sample_bytes: mean bytes per sample. If sample_rate is not 0, one in sample_rate blocks
	 * is sampled instead.
	 */
	__u64 sample_bytes;
	__u64 sample_rate;
	__u64 began_ns;
	__u32 module_cnt __attribute__((aligned(64)));
	__u32 chunk_cnt;
	__u32 spill_cnt;
	__u32 frame_cnt;
	__u64 text_bytes;
	__u64 code_bytes; /* number of bytes of ACCOUNT_CODES in use */
	/* number of distinct stacks; a native stack with and without script frames counts as two */
	__u64 stack_cnt;
	__u64 event_cnt;
	/*
	 * Number of events that memleak has read. Their effects on mappings are in ACCOUNT_RANGES,
	 * so these events may be overwritten.
	 */
	__u64 event_read;
	__u64 range_cnt;
	__u64 lost[ACCOUNT_LOST_CNT];
	struct account_sums sums; /* totals, maintained if ACCOUNT_ADDS_UP is set */
	/* Number of calls of each function when ACCOUNT_ADDS_UP was set. Written by memleak. */
	__u64 calls_before[ACCOUNT_CALL_CNT];
	__u64 traced_cnt;
	/* Number of entries of ACCOUNT_TRACE that memleak has read: these may be overwritten. */
	__u64 traced_read;
	__u64 last_fork_ns;
	/*
	 * In a forked child: the time when the parent's account began, which together with
	 * parent_pid identifies that account.
	 */
	__u64 parent_began_ns;
	__u64 forked_ns; /* in a forked child: time of the fork; 0 if no blocks are inherited */
	__u32 parent_pid;
	__u32 is_bypassed; /* 1 if the program does not call the agent's malloc() */
	/* An address in the code of CPython; 0 if script frames are not read. */
	__u64 interpreter;
};

#define ACCOUNT_CACHE_LINE 64U
_Static_assert(offsetof(struct account, depth) / ACCOUNT_CACHE_LINE ==
		       offsetof(struct account, epoch) / ACCOUNT_CACHE_LINE,
	       "fields read by each call share a cache line");
_Static_assert(offsetof(struct account, module_cnt) % ACCOUNT_CACHE_LINE == 0,
	       "fields written by all threads begin another line");

struct account_thread {
	__u32 tid;
	/* 1 after the thread has ended, until another thread takes its number and adds to its
	 * counts */
	__u32 has_ended;
	__u64 calls[ACCOUNT_CALL_CNT];
	__u64 earlier_frees;           /* number of frees of addresses that are in no cell */
	__u64 failed;                  /* number of failed allocator calls, except for 0 bytes */
	__u64 asked[ACCOUNT_CALL_CNT]; /* requested bytes, if ACCOUNT_COUNTS is set */
	/* number of frees, if ACCOUNT_COUNTS or ACCOUNT_ADDS_UP is set */
	__u64 frees;
	/* The following fields are maintained if ACCOUNT_ADDS_UP is set. */
	__u64 allocated; /* allocated bytes */
	__u64 largest;   /* largest allocation, in bytes */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct account_thread) % ACCOUNT_CACHE_LINE == 0,
	       "threads do not share cache lines");

#define ACCOUNT_MODULES_MAX (1U << 16)

/*
 * An executable mapping as it was first seen. Module numbers are not reused, even if the code is
 * unmapped.
 */
struct account_module {
	__u64 start;
	__u64 end;
	__u64 offset; /* file offset that is mapped at `start` */
	__u64 ino;    /* inode number, 0 if there is no file */
	__u32 dev_major;
	__u32 dev_minor;
	__u64 path; /* offset of the module's path in ACCOUNT_TEXT */
	__u64 since_ns;
	__u64 reserved;
};

struct account_frame {
	/*
	 * A native frame in the format of bpf/memleak.h, except that it has a module number instead
	 * of a file number; or a script frame, ACCOUNT_SCRIPT_FRAME().
	 */
	__u64 frame;
	/*
	 * Number of the caller's frame, always smaller than this frame's number. In an outermost
	 * frame: ACCOUNT_STACK_END().
	 */
	__u32 parent;
	/*
	 * Frames with the same parent form a binary trie by hash. `first` is the root of the trie
	 * of this frame's children; `next` has this frame's two branches in the trie of its
	 * siblings.
	 */
	__u32 first;
	__u32 next[2];
};

/*
 * A script frame: the position of its code object's copy, and the distance in bytes from the
 * original code object to the instruction. Flags: MEMLEAK_FRAME_SCRIPT, always; MEMLEAK_FRAME_EXACT
 * in the outermost frame of a run of CPython's evaluation loop; ACCOUNT_SCRIPT_CUT if the frame has
 * callers that are not stored.
 */
#define ACCOUNT_SCRIPT_CUT (1ULL << 59)
#define ACCOUNT_CODE_UNIT 16U
#define ACCOUNT_SCRIPT_FRAME(code, distance)                                                       \
	(MEMLEAK_FRAME_SCRIPT | (__u64)(code) << 32 | (__u32)(distance))
/* Offset of the copy in ACCOUNT_CODES, in units of ACCOUNT_CODE_UNIT; 0 if there is no copy. */
#define ACCOUNT_SCRIPT_CODE(frame) ((__u32)((frame) >> 32) & ((1U << 27) - 1))

/*
 * Header of the copy of a CPython code object. The copy contains all that memleak needs to name a
 * frame without reading the process's memory: some fields, the name, the path and the line table.
 * Pointers in the copy are offsets in the account's file, because a proof (--prove) would take
 * addresses for pointers of the program.
 */
struct account_code {
	__u64 identity; /* hash of the code object's content */
	__u32 cookie;   /* memleak_script_cookie() of the copy */
	__u32 reserved;
};

#define ACCOUNT_STACK_BITS 24
/*
 * Value of `parent` in an outermost frame. The argument `end` (enum unwind_end) is the reason why
 * the walk ended.
 */
#define ACCOUNT_STACK_END(end) (1U + (end))
#define ACCOUNT_STACK_ENDS ACCOUNT_STACK_END(UNWIND_END_CNT)
/* Stack number of blocks whose stack is unknown. */
#define ACCOUNT_NO_STACK ACCOUNT_STACK_END(UNWIND_END_UNKNOWN)

/*
 * First word of a cell, account_cell.block: the block's position in its line, its size, and its
 * stack number.
 */
#define ACCOUNT_SIZE_BITS 35
#define ACCOUNT_SIZE_MAX ((1ULL << ACCOUNT_SIZE_BITS) - 1)
#define ACCOUNT_CELL(stack, size, position)                                                        \
	((__u64)(position) << 59 | (__u64)(size) << ACCOUNT_STACK_BITS | (stack))
#define ACCOUNT_CELL_STACK(word) ((__u32)((word) & ((1U << ACCOUNT_STACK_BITS) - 1)))
#define ACCOUNT_CELL_SIZE(word) ((word) >> ACCOUNT_STACK_BITS & ACCOUNT_SIZE_MAX)
#define ACCOUNT_CELL_POSITION(word) ((__u32)((word) >> 59))

/*
 * Second word of a cell, account_cell.life: the block's birth time in units of 2^22 ns, sample bit,
 * epoch, and thread number. Birth times have the resolution of the kernel's tick. A new epoch
 * begins at each fork and when memleak needs one; epochs order the allocations within one tick.
 */
#define ACCOUNT_THREAD_BITS 20
#define ACCOUNT_SAMPLE_SHIFT (ACCOUNT_THREAD_BITS + ACCOUNT_EPOCH_BITS)
#define ACCOUNT_BIRTH_SHIFT (ACCOUNT_SAMPLE_SHIFT + 1)
#define ACCOUNT_BIRTH_NS_SHIFT 22
/* Maximum time, in nanoseconds, from a block's stored birth time to its allocation. */
#define ACCOUNT_TICK_NS 15000000ULL
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
#define ACCOUNT_POSITION_SPAN 8U /* minimum distance between two block addresses, in bytes */
#define ACCOUNT_SPILL_CELLS 11U
/* maximum number of spills per line; a line and 3 spills have cells for all its 32 addresses */
#define ACCOUNT_SPILLS_MAX 3U

struct account_line {
	struct account_cell cells[ACCOUNT_LINE_CELLS];
} __attribute__((aligned(64)));

struct account_spill {
	struct account_cell cells[ACCOUNT_SPILL_CELLS];
	__u32 next; /* number of the line's next spill + 1, 0 if there is none */
	__u32 reserved;
	/*
	 * The line's first address divided by ACCOUNT_LINE_SPAN; the address itself would count as
	 * a pointer in a proof. Written before a block is stored in the spill.
	 */
	__u64 line;
} __attribute__((aligned(64)));

#define ACCOUNT_CHUNK_SPAN_BITS 26
#define ACCOUNT_CHUNK_SPAN (1ULL << ACCOUNT_CHUNK_SPAN_BITS)
#define ACCOUNT_CHUNK_LINES (ACCOUNT_CHUNK_SPAN / ACCOUNT_LINE_SPAN)
#define ACCOUNT_ADDRESS_BITS 48

struct account_chunk {
	struct account_line lines[ACCOUNT_CHUNK_LINES];
	/* indexed by line: number of the line's first spill + 1, 0 if it has none */
	__u32 spills[ACCOUNT_CHUNK_LINES];
	__u64 base; /* first address covered by the chunk */
	__u64 reserved[511];
};

/*
 * Event types. ACCOUNT_EVENT_MAP to ACCOUNT_EVENT_MOVE have the same meaning as MEMLEAK_REC_MAP to
 * MEMLEAK_REC_MOVE in bpf/memleak.h. The last three types are about blocks that forked children
 * inherit.
 */
enum account_event_type {
	ACCOUNT_EVENT_MAP = 1,
	ACCOUNT_EVENT_TAKE,
	ACCOUNT_EVENT_UNTAKE,
	ACCOUNT_EVENT_GONE,
	ACCOUNT_EVENT_MOVE,
	ACCOUNT_EVENT_FORK, /* this process forks at time_ns */
	/*
	 * This process frees a block that a child may have inherited. The fields len, stack and
	 * flags contain the block's cell.
	 */
	ACCOUNT_EVENT_FREED_SHARED,
	/*
	 * This process frees an address that is in no cell: perhaps a block that it has inherited
	 * from its parent.
	 */
	ACCOUNT_EVENT_FREED_INHERITED,
};

#define ACCOUNT_MAP_NO_ACCESS 1U /* mapped with PROT_NONE */
#define ACCOUNT_MAP_STACK 2U     /* mapped with MAP_STACK */
#define ACCOUNT_MAP_SAMPLE 4U    /* the mapping was chosen as a sample */

struct account_event {
	__u64 number; /* event index + 1, set once the event is complete */
	__u32 type;
	__u32 thread;
	__u64 time_ns;
	__u64 addr;
	__u64 len;
	__u32 stack;
	/*
	 * ACCOUNT_EVENT_MAP: bits ACCOUNT_MAP_*; ACCOUNT_EVENT_TAKE: 1 if the old range stays
	 * mapped
	 */
	__u32 flags;
};

#define ACCOUNT_TRACED_FREE 1U
#define ACCOUNT_SIZE_UNKNOWN (~0ULL) /* size of a freed block that is in no cell */

/* A traced allocation or free. */
struct account_traced {
	__u64 number; /* entry index + 1, set once the entry is complete */
	__u64 time_ns;
	__u64 addr;
	__u64 size;
	__u32 stack;
	__u32 thread;
	__u32 call; /* enum account_call */
	__u32 flags;
};

#define ACCOUNT_RANGE_SAMPLE (1ULL << 32)

/*
 * A mapping, stored for a memleak process that attaches later; see struct range in loader/target.
 */
struct account_range {
	__u64 start;
	__u64 end;
	__u64 stack; /* stack number, plus ACCOUNT_RANGE_SAMPLE if sampled */
	__u64 birth_ns;
	__u64 mapped_size;
	__u64 placed_ns;
	__u32 tid;
	__u32 kind;
	__u32 reserved;
	__u32 unused;
};

/*
 * Returns the maximum size of a region, in bytes. Readers ignore anything beyond it. The regions
 * ACCOUNT_SPILLS and ACCOUNT_CHUNKS are smaller if the process's resource limits require that.
 */
static inline __u64 account_region_most(enum account_region which)
{
	static const __u64 most[ACCOUNT_REGION_CNT] = {
		[ACCOUNT_THREADS] = sizeof(struct account_thread) << ACCOUNT_THREAD_BITS,
		[ACCOUNT_MODULES] = sizeof(struct account_module) * ACCOUNT_MODULES_MAX,
		[ACCOUNT_TEXT] = 64ULL << 20,
		[ACCOUNT_EPOCH_TIMES] = sizeof(__u64) << 12,
		[ACCOUNT_DIRECTORY] = 4ULL << (ACCOUNT_ADDRESS_BITS - ACCOUNT_CHUNK_SPAN_BITS),
		[ACCOUNT_FILTER] = ACCOUNT_FILTER_BYTES,
		[ACCOUNT_EVENTS] = sizeof(struct account_event) << 20,
		[ACCOUNT_TRACE] = sizeof(struct account_traced) << 20,
		[ACCOUNT_RANGES] = sizeof(struct account_range) << 20,
		[ACCOUNT_CODE_TABLE] = sizeof(__u32) << 20,
		[ACCOUNT_CODES] = 256ULL << 20,
		[ACCOUNT_FRAMES] = sizeof(struct account_frame) << ACCOUNT_STACK_BITS,
		[ACCOUNT_SPILLS] = 16ULL << 30,
		[ACCOUNT_CHUNKS] = sizeof(struct account_chunk) * 4096,
	};

	return most[which];
}

#endif
