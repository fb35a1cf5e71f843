/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ABI between the BPF programs and the loader: every type, limit and number that both
 * sides must agree on. It knows nothing of how blocks are found or how reports look.
 *
 * Words: a *block* is one outstanding allocation, a *site* is one call stack of one process
 * image, an *image* is one program run by one process (a new one for each exec).
 * Sizes are bytes, times are CLOCK_MONOTONIC nanoseconds.
 */
#ifndef BPF_MEMLEAK_H
#define BPF_MEMLEAK_H

#include <linux/types.h>

#include "bpf/event.h"
#include "bpf/shape.h"
#include "bpf/unwind.h"
#include "bpf/watches.h"

#define MEMLEAK_MAX_STACK_DEPTH 512
#define MEMLEAK_DEFAULT_STACK_DEPTH 127

/*
 * The packed totals hold 24 bits of count and 40 bits of size. Credits and debits follow the
 * blocks that are kept, so at most max_allocs, the recent ones (8192 * MEMLEAK_RECENT_BLOCKS) and
 * one in flight per thread are counted at any moment: capping max_allocs MEMLEAK_IN_FLIGHT below
 * 2^24 keeps the count from carrying, and sending blocks of 2^40 / (max_allocs + MEMLEAK_IN_FLIGHT)
 * bytes or more to the wide counter keeps the size from carrying.
 */
#define MEMLEAK_IN_FLIGHT (1U << 16)
#define MEMLEAK_MAX_ALLOCS_CAP ((1U << 24) - MEMLEAK_IN_FLIGHT)
#define MEMLEAK_TOTAL_SIZE_BITS 40
#define MEMLEAK_TOTAL_COUNT_BITS 24

/* What a block is made of. */
enum memleak_kind {
	MEMLEAK_KIND_HEAP,    /* malloc and its kin */
	MEMLEAK_KIND_MMAP,    /* private anonymous memory from mmap */
	MEMLEAK_KIND_RESERVE, /* the same with PROT_NONE: address space, no memory */
	MEMLEAK_KIND_STACK,   /* the same with MAP_STACK: a thread's stack */
	MEMLEAK_KIND_SLAB,
	MEMLEAK_KIND_PAGE,
	MEMLEAK_KIND_PERCPU,
	MEMLEAK_KIND_DESCRIPTOR, /* an open descriptor, of size 1: --fds */
	MEMLEAK_KIND_CNT,
};

/* What entry programs end with. */
enum memleak_tail {
	MEMLEAK_TAIL_WALK,   /* the stack is walked */
	MEMLEAK_TAIL_VMA,    /* it is walked by the kernel's own mappings */
	MEMLEAK_TAIL_EVENT,  /* it is walked for an event alone */
	MEMLEAK_TAIL_DECIDE, /* is it nested in a marked call? */
	MEMLEAK_TAIL_ENTER,  /* it is not: the entry goes on */
	MEMLEAK_TAIL_CNT,
};

/* Every way in which an event can be lost: indexes into the per-CPU counters. */
enum memleak_lost {
	MEMLEAK_LOST_ALLOCS_FULL,  /* block table full (--max-allocs) */
	MEMLEAK_LOST_STACKS_FULL,  /* stack table full (--stack-storage-size): block kept, no stack
				    */
	MEMLEAK_LOST_NESTING,      /* outermost call overwritten by one on another stack */
	MEMLEAK_LOST_RECURSION,    /* program skipped by the kernel (recursion_misses) */
	MEMLEAK_LOST_UNWIND,       /* stack cut: block kept, its outer callers are not known */
	MEMLEAK_LOST_UNRETURNED,   /* call never returned: longjmp, or the return probe was lost */
	MEMLEAK_LOST_SITES_FULL,   /* site table full: block not tracked */
	MEMLEAK_LOST_THREADS_FULL, /* no memory for a thread's state: its calls were not seen */
	MEMLEAK_LOST_NO_MEMORY,  /* the kernel had no memory for a table entry: block not tracked */
	MEMLEAK_LOST_MAPPINGS,   /* mmap, munmap or mremap events that found the ring full */
	MEMLEAK_LOST_EVENTS,     /* -t lines that found the ring full */
	MEMLEAK_LOST_EXEC,       /* programs executed whose first allocations were not seen */
	MEMLEAK_LOST_QUOTA_FULL, /* the process had used up its quota of the block table */
	MEMLEAK_LOST_PROCESSES,  /* processes that were not traced, or whose exec was not told */
	MEMLEAK_LOST_HEAPS,      /* heaps that were freed as a whole: their blocks are kept */
	MEMLEAK_LOST_INHERITED,  /* frees of blocks that children have copies of, or are copies */
	MEMLEAK_LOST_STRINGS,    /* strings not read to their end: their sizes are what was read */
	MEMLEAK_LOST_CNT,
};

/* Counts of what is no loss, which stand behind the losses. */
enum memleak_stat {
	MEMLEAK_STAT_CALLS = MEMLEAK_LOST_CNT, /* allocations and frees of the kernel */
	MEMLEAK_STAT_REPLACED,       /* blocks found at an address just handed out again */
	MEMLEAK_STAT_GONE_WITH_PAGE, /* blocks in a slab page that was given back */
	MEMLEAK_STAT_RESCUED,        /* events whose first program the kernel skipped */
	MEMLEAK_STAT_WALKS,          /* stacks walked */
	MEMLEAK_STAT_STACKS,         /* stacks stored */
	MEMLEAK_STAT_CUT_NO_CODE,    /* stacks that were cut, by what cut them */
	MEMLEAK_STAT_CUT_NO_RULE,
	MEMLEAK_STAT_CUT_READ,
	MEMLEAK_STAT_REPAIRED,  /* frames whose return address a return probe had taken */
	MEMLEAK_STAT_CACHED,    /* stacks recognised by the stack cache, and not walked */
	MEMLEAK_STAT_CHECKED,   /* stacks recognised, and walked all the same to check the cache */
	MEMLEAK_STAT_DISAGREED, /* of those checked, stacks that were other than the cache said */
	MEMLEAK_STAT_FAILED,    /* allocations that were to be tracked, and failed */
	MEMLEAK_STAT_CALLS_OF,  /* outermost allocator calls seen, by enum memleak_shape */
	MEMLEAK_COUNTER_CNT = MEMLEAK_STAT_CALLS_OF + MEMLEAK_SHAPE_CNT,
};

/* What the number in a block's key counts: equal numbers of two domains are two blocks. */
enum memleak_domain {
	MEMLEAK_DOMAIN_USER,   /* virtual memory of an image */
	MEMLEAK_DOMAIN_SLAB,   /* kernel virtual memory */
	MEMLEAK_DOMAIN_PAGE,   /* page frame number times page size */
	MEMLEAK_DOMAIN_PERCPU, /* offsets into every CPU's own memory */
};

struct memleak_block_key {
	__u64 addr;
	__u32 image; /* 0 in the kernel, whose blocks may be freed by anyone */
	__u32 domain;
};

struct memleak_block {
	__u64 size;
	__u64 birth_ns;
	__u64 site;
	__u32 tid;
	__u32 halved; /* how often it was halved: what is left of a block of pages that was freed in
			 part */
};

/* One word, so that one atomic add moves count and size together. */
union combined_alloc_info {
	struct {
		__u64 total_size : MEMLEAK_TOTAL_SIZE_BITS;
		__u64 number_of_allocs : MEMLEAK_TOTAL_COUNT_BITS;
	};
	__u64 bits;
};

/* Or'ed into the kind of a site: allocated in interrupt context, on nobody's behalf. */
#define MEMLEAK_IN_INTERRUPT (1U << 16)

#define MEMLEAK_CACHE_NAME_SIZE 64

/*
 * Kernel sites: who allocated there last, and from which slab cache. Written without a lock: two
 * CPUs at one site at once may leave the pid of one and the name of the other.
 */
struct memleak_origin {
	__u32 last_pid;
	__u8 several_pids;
	__u8 several_caches;
	__u8 cache_read;  /* its name was looked for */
	__u8 reclaimable; /* the kernel takes such memory back when it needs some */
	char last_comm[MEMLEAK_COMM_SIZE];
	__u64 cache_size; /* what the cache hands out */
	char cache[MEMLEAK_CACHE_NAME_SIZE];
};

/* Key of the site table: a 64-bit hash of stack, image and kind. */
struct memleak_site {
	union combined_alloc_info total; /* of all blocks the count; of the narrow ones the size */
	__u64 wide_bytes;                /* size of the blocks too large for the packed word */
	__u64 stack;                     /* key of the stack table, 0: stack not known */
	__u32 image;
	__u32 kind;
	struct memleak_origin origin; /* of kernel sites */
};

/*
 * Key of the stack table: a 64-bit hash of the frames, never 0. The innermost frame is first.
 *
 * A user stack is *unresolved* if its frames are addresses of which it was not known what is mapped
 * there, or whose code may have been replaced since that was known. The loader finds out what they
 * were from the counts of unloads.
 *
 * An unresolved stack may be *deferred*, too: a copy of its memory is sent to the loader, which
 * finds the frames once the code is known. The key of a deferred stack is like no other's.
 */
struct memleak_stack {
	__u16 frame_cnt;
	__u8 end; /* enum unwind_end */
	__u8 unresolved : 1;
	__u8 deferred : 1;
	__u16 unloads;       /* of the process, when the stack was walked */
	__u16 known_unloads; /* of the process, when the mappings were read that the walk used */
	__u64 frames[];
};

static inline __attribute__((always_inline)) __u64 hash_mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
	return hash ^ (hash >> 29);
}

/* The key of a site, from the hash of its stack's frames. */
static inline __attribute__((always_inline)) __u64 site__id(__u64 stack, __u32 image, __u32 kind)
{
	__u64 id = hash_mix(stack, (__u64)kind << 32 | image);

	return id ? id : 1;
}

/*
 * Set in the images to which the loader has given a number, and not in those that began later. 0 is
 * no image: a target with it is never traced, nor are its children.
 */
#define MEMLEAK_IMAGE_GIVEN (1U << 31)

/* Value of the target table; the key is the process's number in the loader's pid namespace. */
struct memleak_target {
	__u32 image;
	__u32 base;         /* the image with whose mappings it began; 0: it executed a program */
	__u32 borrows;      /* it runs in its parent's memory, until it executes a program */
	__u32 has_forked;   /* and the loader has a record of that */
	__u32 binding;      /* how often another thread than the first has executed a program, or
			     * MEMLEAK_BORROWED */
	__u32 unloads;      /* grows before and after libraries are unloaded */
	__u32 loader_state; /* what the dynamic loader was about to do when its hook was last called
			     */
	__u32 descendant;   /* what its parent had when it was forked is its own, too: --follow */
	__u32 fd_end;       /* --fds: all tracked descriptors are below this */
	__u64 code_told_ns; /* when a walk last sent a record of unknown code */
	__u64 exec_cnt;     /* the kernel's count when the last exec was handled; 0: none was */
};

/* Targets at once, where processes are found while tracing. */
#define MEMLEAK_TARGETS_MAX 16384

/* Stands for the hierarchy of cgroup version 2. */
#define MEMLEAK_CGROUP_UNIFIED (~0U)

/* Which processes become targets by themselves; constant for the programs. */
struct memleak_target_filter {
	__u32 cgroup_subsys; /* hierarchy of the cgroup: the kernel's number of the controller */
	__u8 join;   /* processes that fit become targets when they begin or execute a program */
	__u8 follow; /* children of targets become targets */
	__u8 by_comm;
	__u8 by_cgroup;
	__u64 comm[MEMLEAK_COMM_SIZE / 8]; /* followed by zeros */
};

#define MEMLEAK_CGROUP_NAME_SIZE 256

/*
 * The cgroup in which, or below which, targets are. Whoever starts a service again removes its
 * cgroup and makes another one of the same name, which takes the place of the first.
 */
struct memleak_cgroup {
	__u64 id;
	__u64 parent; /* 0: the cgroup has no parent */
	char name[MEMLEAK_CGROUP_NAME_SIZE];
};

/*
 * The cookie of an entry probe: the shape of the call and the binding it was attached for. Links
 * of an earlier binding may go on firing until they are detached.
 *
 * An exception may leave a call: its return is seen by probes on the instructions that return, and
 * never by a return probe, through which no exception finds its way.
 */
#define MEMLEAK_COOKIE(shape, binding) ((__u64)(binding) << 8 | (shape))
#define MEMLEAK_COOKIE_THROWS 0x80ULL
#define MEMLEAK_COOKIE_SHAPE(cookie) ((cookie)&0x7f)
#define MEMLEAK_COOKIE_BINDING(cookie) ((__u32)((cookie) >> 8))
#define MEMLEAK_ANY_BINDING (~0U)
/* Of processes that borrow the memory of one whose probes fire for its own threads alone. */
#define MEMLEAK_BORROWED (MEMLEAK_ANY_BINDING - 1)

/*
 * Set in a frame of user space that was interrupted there by a signal: the address is of the
 * instruction to be executed next, and not behind a call. No address of either space has this bit
 * and the one above it differ.
 */
#define MEMLEAK_FRAME_EXACT (1ULL << 62)
#define MEMLEAK_FRAME_IS_EXACT(frame) ((frame) >> 62 == 1)
#define MEMLEAK_FRAME_ADDR(frame) ((frame) >> 63 ? (frame) : (frame) & (MEMLEAK_FRAME_UNKNOWN - 1))

/*
 * A frame in code that is mapped from a file is a place in the file: equal in all processes, and
 * still right when something else is mapped there. Otherwise the bits of this one are those of an
 * address of user space.
 */
#define MEMLEAK_FRAME_FILE (1ULL << 61)
#define MEMLEAK_FRAME_IN_FILE(frame)                                                               \
	(((frame) & (1ULL << 63 | MEMLEAK_FRAME_FILE)) == MEMLEAK_FRAME_FILE)
#define MEMLEAK_FRAME_OFFSET_BITS 40
#define MEMLEAK_FRAME_OFFSET(frame) ((frame) & ((1ULL << MEMLEAK_FRAME_OFFSET_BITS) - 1))
#define MEMLEAK_FRAME_FILE_NUMBER(frame)                                                           \
	((__u32)((frame) >> MEMLEAK_FRAME_OFFSET_BITS) & (MEMLEAK_FRAME_FILES - 1))
#define MEMLEAK_FRAME_FILES (1U << 20)

/*
 * Set by the loader: more than one thing has been mapped at the address, and nobody knows which it
 * was.
 */
#define MEMLEAK_FRAME_UNSURE (1ULL << 60)

/*
 * Nothing was known to be mapped at the address when the stack was walked: the next frame was found
 * by a frame pointer, which is right if this is code that has no table.
 */
#define MEMLEAK_FRAME_UNKNOWN (1ULL << 59)

/* How user stacks are walked. */
enum memleak_unwind {
	MEMLEAK_UNWIND_AUTO,  /* by tables, by frame pointers where a frame has no table */
	MEMLEAK_UNWIND_FP,    /* by frame pointers alone */
	MEMLEAK_UNWIND_DWARF, /* by tables alone */
};

/* Frees of blocks from before tracing began are counted for each image, two of which may share. */
#define MEMLEAK_EARLIER_CNT 16384

static inline __attribute__((always_inline)) __u32 memleak_earlier_at(__u32 image)
{
	return (image * 2654435761U) / (0xffffffffU / MEMLEAK_EARLIER_CNT + 1);
}

struct memleak_earlier {
	__u64 frees;
	__u64 sized; /* of these, so many had a size that could be read */
	__u64 bytes; /* and that was so much */
};

/* Options of the programs, set before load and constant for them. */
struct memleak_config {
	__u64 min_size;
	__u64 max_size;
	__u64 wide_size;    /* blocks of at least this size go to wide_bytes */
	__u64 sample_bytes; /* one sample in so many bytes on average; 0: none by bytes */
	__u32 sample_rate;  /* one call in so many, at random; 1 = all */
	__u32 stack_depth;
	__u32 unwind;        /* enum memleak_unwind */
	__u32 verify_unwind; /* test knob: so many stacks are sent along to be compared; 0: none */
	__u32 recent_mask;
	__u32 filter_mask;
	__u32 max_allocs;
	__u32 pid_namespace; /* the namespace whose pids are used; 0: the initial one */
	__u32 count_subsys;  /* --count: the cgroup's hierarchy, as in struct memleak_target_filter
			      */
	__u8 combined_only;
	__u8 trace_events;
	__u8 trace_stacks;  /* each event has its stack, too */
	__u8 stack_cache;   /* stacks that were walked before are not walked again */
	__u8 never;         /* always 0: what only a compiler believes may be otherwise */
	__u8 exchange;      /* words can be compared and exchanged */
	__u8 find_vma;      /* stacks can be walked by the kernel's own mappings */
	__u8 recent;        /* there is a recent-block cache */
	__u8 summary;       /* totals are kept for each image */
	__u8 peak;          /* the total of all blocks is kept */
	__u8 earlier;       /* frees of blocks from before tracing began are counted */
	__u8 grows;         /* there may be a second table of blocks */
	__u8 quotas;        /* there are per-process quotas of the block table */
	__u8 count;         /* enum memleak_count_by: calls are counted, and nothing else is done */
	__u8 descriptors;   /* --fds: a block is a descriptor, and children inherit none */
	__u8 count_targets; /* probes fire for every process: only calls of targets count */
	__u8 bound;         /* probes fire for one process each, not for who borrows its memory */
	__u8 sessions; /* the result of a program at an entry says whether the return is to be seen
			*/
};

/* Records of the control ring: mappings and the life of processes, in order. */
enum memleak_record_type {
	MEMLEAK_REC_MAP,    /* new mapping addr, len at site */
	MEMLEAK_REC_TAKE,   /* addr, len is about to be unmapped, replaced or moved */
	MEMLEAK_REC_UNTAKE, /* the call failed: what this thread's last TAKE took is back */
	MEMLEAK_REC_GONE,   /* the call succeeded: what this thread's last TAKE took is gone */
	MEMLEAK_REC_MOVE,   /* what this thread's last TAKE took is now at addr, len */
	MEMLEAK_REC_EXEC,   /* the process runs a new image; addr: its number, len: 1 if another
			     * thread than the first has executed it */
	MEMLEAK_REC_FORK,   /* the process made a child process, its first one; addr: its pid */
	MEMLEAK_REC_BORROW, /* it made one that borrows its memory; addr: its pid */
	MEMLEAK_REC_NEW,  /* a new target; addr: the image that it copies, or 0; len: descendant */
	MEMLEAK_REC_END,  /* a target ended, or is no target any more; addr: its unloads */
	MEMLEAK_REC_LEFT, /* a target executes a program that is no target */
	MEMLEAK_REC_LIBS, /* the dynamic loader has changed the list of libraries */
	MEMLEAK_REC_CODE, /* a walk met code, at addr, that the tables do not know of */
	MEMLEAK_REC_STACKS, /* the table of stacks is getting full */
	MEMLEAK_REC_BLOCKS, /* the first table of blocks may be getting full */
	MEMLEAK_REC_PEAK,   /* more is outstanding than the limit that the loader has set */
};

struct memleak_record {
	__u32 type;
	__u32 image;
	__u32 tgid;
	__u32 tid;
	__u64 time_ns;
	__u64 addr;
	__u64 len;
	__u64 site;
	__u32 kind;
	__u32 flags; /* TAKE: MEMLEAK_TAKE_COPY */
};

#define MEMLEAK_TAKE_COPY 1U /* mremap(MREMAP_DONTUNMAP): the old range stays mapped */

/*
 * A stack as the programs walked it, and the memory that they saw, to be walked again by libdwfl: a
 * deferred stack, or one that is to be compared. The copy of a deferred stack ends somewhere in
 * copy.stack_bytes.
 */
struct memleak_stack_copy {
	__u64 deferred; /* key of the stack table; 0: to be compared */
	__u32 image;
	__u32 generation; /* of the process's mappings, struct unwind_space; 0: none were known */
	struct unwind_copy copy;
	__u32 frame_cnt;
	__u32 end; /* enum unwind_end */
	__u64 frames[MEMLEAK_MAX_STACK_DEPTH];
};

#define MEMLEAK_DEFERRED_COPY_BYTES(stack_bytes)                                                   \
	(__builtin_offsetof(struct memleak_stack_copy, copy.stack_bytes) + (stack_bytes))

#endif
