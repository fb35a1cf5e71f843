/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The main header of the ABI between the BPF programs and the loader: types, limits and numbers
 * that both use.
 *
 * Terms: a *block* is one outstanding allocation. An *image* is a process between an exec or fork
 * and its next exec or its end. A *site* is one call stack of one image, for one kind of memory.
 * Sizes are in bytes, times in CLOCK_MONOTONIC nanoseconds.
 */
#ifndef BPF_MEMLEAK_H
#define BPF_MEMLEAK_H

#include <linux/types.h>

#include "bpf/event.h"
#include "bpf/script.h"
#include "bpf/shape.h"
#include "bpf/unwind.h"
#include "bpf/watches.h"

#define MEMLEAK_MAX_STACK_DEPTH 512
#define MEMLEAK_DEFAULT_STACK_DEPTH 127

/*
 * The packed total of a site (union combined_alloc_info) has 24 bits of count and 40 bits of size.
 * A total contains at most max_allocs blocks of the block table, 8192 * MEMLEAK_RECENT_BLOCKS
 * blocks of the recent-block cache, and one block that each thread is just recording.
 * MEMLEAK_IN_FLIGHT is the maximum number of blocks outside the block table. To keep the count from
 * overflowing, max_allocs is at most 2^24 - MEMLEAK_IN_FLIGHT. To keep the size from overflowing,
 * sizes of 2^40 / (max_allocs + MEMLEAK_IN_FLIGHT) bytes or more are added to wide_bytes instead.
 */
#define MEMLEAK_IN_FLIGHT (1U << 16)
#define MEMLEAK_MAX_ALLOCS_CAP ((1U << 24) - MEMLEAK_IN_FLIGHT)
#define MEMLEAK_TOTAL_SIZE_BITS 40
#define MEMLEAK_TOTAL_COUNT_BITS 24

/* Kinds of memory. */
enum memleak_kind {
	MEMLEAK_KIND_HEAP,    /* from malloc and related functions */
	MEMLEAK_KIND_MMAP,    /* private anonymous memory from mmap */
	MEMLEAK_KIND_RESERVE, /* mmap with PROT_NONE: address space without memory */
	MEMLEAK_KIND_STACK,   /* mmap with MAP_STACK: a thread's stack */
	MEMLEAK_KIND_SLAB,
	MEMLEAK_KIND_PAGE,
	MEMLEAK_KIND_PERCPU,
	MEMLEAK_KIND_DESCRIPTOR, /* --fds: an open file descriptor; its size counts as 1 */
	MEMLEAK_KIND_CNT,
};

/* Tail-call targets of the BPF programs that run at entry probes. */
enum memleak_tail {
	MEMLEAK_TAIL_WALK,   /* walks the stack */
	MEMLEAK_TAIL_VMA,    /* walks the stack with the kernel's VMAs */
	MEMLEAK_TAIL_EVENT,  /* walks the stack of a free or an untracked call, for -tt */
	MEMLEAK_TAIL_DECIDE, /* decides whether the call is nested */
	MEMLEAK_TAIL_ENTER,  /* handles the entry of a call that is not nested */
	MEMLEAK_TAIL_CNT,
};

/* Losses, each of which has a per-CPU counter. */
enum memleak_lost {
	MEMLEAK_LOST_ALLOCS_FULL,  /* block table full (--max-allocs) */
	MEMLEAK_LOST_STACKS_FULL,  /* stack table full (--stack-storage-size): stack not stored */
	MEMLEAK_LOST_NESTING,      /* calls that may wrongly count as nested or as outermost */
	MEMLEAK_LOST_RECURSION,    /* BPF program skipped by the kernel (recursion_misses) */
	MEMLEAK_LOST_UNWIND,       /* stack cut: block kept, outer callers unknown */
	MEMLEAK_LOST_UNRETURNED,   /* calls that never returned: longjmp, or a lost return probe */
	MEMLEAK_LOST_SITES_FULL,   /* site table full: block not tracked */
	MEMLEAK_LOST_THREADS_FULL, /* no memory for a thread's state: its calls were missed */
	MEMLEAK_LOST_NO_MEMORY,    /* no kernel memory for a table entry: block not tracked */
	MEMLEAK_LOST_MAPPINGS,   /* mmap, munmap or mremap records lost because the ring was full */
	MEMLEAK_LOST_EVENTS,     /* -t lines lost because the ring was full */
	MEMLEAK_LOST_EXEC,       /* execs after which the first allocations were missed */
	MEMLEAK_LOST_QUOTA_FULL, /* the process used up its quota of the block table */
	MEMLEAK_LOST_PROCESSES,  /* processes not added as targets, or execs not reported */
	MEMLEAK_LOST_HEAPS, /* heaps freed as a whole: their blocks still count as outstanding */
	MEMLEAK_LOST_INHERITED, /* unrecorded forks, and unrecorded frees of inherited blocks */
	MEMLEAK_LOST_STRINGS,   /* strings not read completely: their recorded size is too small */
	MEMLEAK_LOST_CNT,
};

/* Statistics; their counters follow those of the losses. */
enum memleak_stat {
	MEMLEAK_STAT_CALLS = MEMLEAK_LOST_CNT, /* allocations and frees in the kernel */
	MEMLEAK_STAT_REPLACED,       /* stale blocks found at an address that was just allocated */
	MEMLEAK_STAT_GONE_WITH_PAGE, /* blocks removed because their slab page was freed */
	MEMLEAK_STAT_RESCUED,        /* events whose first BPF program the kernel skipped */
	MEMLEAK_STAT_WALKS,          /* stacks walked */
	MEMLEAK_STAT_STACKS,         /* stacks stored */
	MEMLEAK_STAT_CUT_NO_CODE,    /* cut stacks, by cause: this counter and the next two */
	MEMLEAK_STAT_CUT_NO_RULE,
	MEMLEAK_STAT_CUT_READ,
	MEMLEAK_STAT_REPAIRED,  /* frames whose return address a return probe had replaced */
	MEMLEAK_STAT_CACHED,    /* stacks recognised by the stack cache, not walked */
	MEMLEAK_STAT_CHECKED,   /* recognised stacks that were walked anyway, to check the cache */
	MEMLEAK_STAT_DISAGREED, /* checked stacks that differed from the cache */
	MEMLEAK_STAT_FAILED,    /* failed calls that would have allocated a tracked block */
	MEMLEAK_STAT_CALLS_OF,  /* outermost allocator calls seen: one counter per shape */
	MEMLEAK_COUNTER_CNT = MEMLEAK_STAT_CALLS_OF + MEMLEAK_SHAPE_CNT,
};

/*
 * Meaning of the address in a block's key. Equal addresses in different domains belong to different
 * blocks.
 */
enum memleak_domain {
	MEMLEAK_DOMAIN_USER,   /* virtual address in an image's user memory */
	MEMLEAK_DOMAIN_SLAB,   /* kernel virtual address */
	MEMLEAK_DOMAIN_PAGE,   /* page frame number times page size */
	MEMLEAK_DOMAIN_PERCPU, /* offset in each CPU's per-CPU memory */
};

struct memleak_block_key {
	__u64 addr;
	__u32 image; /* owner of the block; 0 for kernel blocks, which any process may free */
	__u32 domain;
};

struct memleak_block {
	__u64 size;
	__u64 birth_ns;
	__u64 site;
	__u32 tid;
	__u32 halved; /* how many times a partial free has halved a block of pages */
};

/* Count and total size of blocks in one 64-bit word, so that one atomic addition changes both. */
union combined_alloc_info {
	struct {
		__u64 total_size : MEMLEAK_TOTAL_SIZE_BITS;
		__u64 number_of_allocs : MEMLEAK_TOTAL_COUNT_BITS;
	};
	__u64 bits;
};

/* Flag in a site's kind: its blocks were allocated in interrupt context, not for a process. */
#define MEMLEAK_IN_INTERRUPT (1U << 16)

/*
 * With --max-overhead, a site's kind also contains the sampling step of its blocks, in the bits
 * from MEMLEAK_STEP_SHIFT on: each step has its own sites. With step 0, all blocks are recorded.
 * The mean distance between samples is config.sample_bytes with step 1, and four times as much with
 * each further step.
 */
#define MEMLEAK_STEP_SHIFT 24
#define MEMLEAK_STEP_MAX 8
#define MEMLEAK_STEP_TIMES(steps) (1ULL << 2 * (steps))

#define MEMLEAK_CACHE_NAME_SIZE 64

/*
 * The process that allocated most recently at a kernel site, and the site's slab cache. Written
 * without a lock: if two CPUs allocate at one site, pid and name may be of different processes.
 */
struct memleak_origin {
	__u32 last_pid;
	__u8 several_pids;
	__u8 several_caches;
	__u8 cache_read;  /* 1 if the cache's name was looked up */
	__u8 reclaimable; /* 1 if the kernel can reclaim this memory */
	char last_comm[MEMLEAK_COMM_SIZE];
	__u64 cache_size; /* object size of the cache */
	char cache[MEMLEAK_CACHE_NAME_SIZE];
};

/* Value of the site table; the key is a hash of stack, image and kind. */
struct memleak_site {
	/* number of all blocks, and total size of those smaller than wide_size */
	union combined_alloc_info total;
	__u64 wide_bytes; /* total size of the blocks of wide_size bytes or more */
	__u64 stack;      /* key in the stack table; 0 if the stack is unknown */
	__u32 image;
	__u32 kind;
	struct memleak_origin origin; /* for kernel sites: most recent process, and slab cache */
};

/*
 * Value of the stack table, with the innermost frame first. The key is a 64-bit hash of the frames,
 * never 0.
 *
 * A user stack is *unresolved* if the walk knew no mapping for some of its frames, or only a
 * mapping that may be out of date. The loader resolves such frames later: for each unload count of
 * the process (see struct memleak_target), it keeps a record of what was mapped.
 *
 * An unresolved stack may also be *deferred*: a copy of its memory is sent to the loader, which
 * finds the frames when the code is known. The key of a deferred stack is random.
 */
struct memleak_stack {
	__u16 frame_cnt;
	__u8 end; /* enum unwind_end */
	__u8 unresolved : 1;
	__u8 deferred : 1;
	__u8 script_cnt : 6; /* number of struct memleak_script_frame after the frames */
	__u16 unloads;       /* the process's unload count when the stack was walked */
	/* unload count when the loader read the mappings that the walk used */
	__u16 known_unloads;
	__u64 frames[];
};

/* Returns the key of a site, from its stack's key. */
static inline __attribute__((always_inline)) __u64 site__id(__u64 stack, __u32 image, __u32 kind)
{
	__u64 id = hash_mix(stack, (__u64)kind << 32 | image);

	return id ? id : 1;
}

/*
 * Flag in an image number: set if the loader has assigned the number, clear if the BPF programs
 * have. A target with image 0 is never traced, and neither are its children.
 */
#define MEMLEAK_IMAGE_GIVEN (1U << 31)

/* Value of the target table; the key is the tgid in the loader's pid namespace. */
struct memleak_target {
	__u32 image;
	__u32 base; /* ancestor's image, whose mappings the process began with; 0 after exec */
	__u32 shares_memory; /* 1 while the process runs in its parent's memory, before exec */
	__u32 has_forked;    /* 1 if the process's first fork was reported to the loader */
	/*
	 * Number of execs by threads other than the main thread: each of them makes the earlier
	 * probes stale. MEMLEAK_SHARES_MEMORY if probes are bound to processes and the process
	 * shares another's memory.
	 */
	__u32 binding;
	__u32 unloads;      /* unload count: incremented before and after libraries are unloaded */
	__u32 loader_state; /* state of the dynamic loader at the last call of its hook */
	__u32 descendant;   /* --follow: 1 if the process has inherited its parent's blocks */
	__u32 fd_end;       /* --fds: all tracked descriptors are below this number */
	__u64 code_sent_ns; /* when a walk last sent a record of unknown code */
	__u64 exec_cnt;     /* kernel's exec count at the last handled exec; 0 if none */
};

/* Maximum number of targets with a target filter or --follow. */
#define MEMLEAK_TARGETS_MAX 16384

/* Value of cgroup_subsys for the hierarchy of cgroup version 2. */
#define MEMLEAK_CGROUP_UNIFIED (~0U)

/* Rule by which processes become targets; constant for the BPF programs. */
struct memleak_target_filter {
	__u32 cgroup_subsys; /* a controller of the cgroup's hierarchy, or MEMLEAK_CGROUP_UNIFIED */
	/* 1 if matching processes become targets, at fork, exec or entry to the cgroup */
	__u8 join;
	__u8 follow; /* 1 if children of targets become targets */
	__u8 by_comm;
	__u8 by_cgroup;
	__u64 comm[MEMLEAK_COMM_SIZE / 8]; /* name of matching processes, padded with zeros */
};

#define MEMLEAK_CGROUP_NAME_SIZE 256

/*
 * The cgroup that the filter selects: its processes, and those of its descendants, are targets.
 * When a service is restarted, its cgroup is removed; a new cgroup with the same parent and name
 * then takes its place.
 */
struct memleak_cgroup {
	__u64 id;
	__u64 parent; /* id of the parent; 0 if none */
	char name[MEMLEAK_CGROUP_NAME_SIZE];
};

/*
 * The cookie of an entry probe: the shape of the call, and the value of memleak_target.binding for
 * which the probe was attached. Probes of an earlier binding may fire until they are detached; the
 * BPF programs ignore them.
 *
 * MEMLEAK_COOKIE_THROWS: an exception may leave the called function. Probes on its return
 * instructions report its return, since an exception cannot pass a return probe.
 */
#define MEMLEAK_COOKIE(shape, binding) ((__u64)(binding) << 8 | (shape))
#define MEMLEAK_COOKIE_THROWS 0x80ULL
#define MEMLEAK_COOKIE_SHAPE(cookie) ((cookie)&0x7f)
#define MEMLEAK_COOKIE_BINDING(cookie) ((__u32)((cookie) >> 8))
#define MEMLEAK_ANY_BINDING (~0U)
/* Binding of a process that shares another process's memory, if probes are bound to processes. */
#define MEMLEAK_SHARES_MEMORY (MEMLEAK_ANY_BINDING - 1)

/*
 * Flag in a user frame that a signal interrupted: the frame's address is that of the next
 * instruction, not a return address. In a plain address, this bit equals the bit above it.
 */
#define MEMLEAK_FRAME_EXACT (1ULL << 62)
#define MEMLEAK_FRAME_IS_EXACT(frame) ((frame) >> 62 == 1)
#define MEMLEAK_FRAME_ADDR(frame) ((frame) >> 63 ? (frame) : (frame) & (MEMLEAK_FRAME_UNKNOWN - 1))

/*
 * Flag in frames that consist of a file number and an offset. Such a frame is equal in all
 * processes, and stays valid when the file is unmapped. In user addresses, this bit is 0.
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
 * Flag in a frame, set by the loader: different code was mapped at the address over time, or may
 * have been, and it is unknown which code was running.
 */
#define MEMLEAK_FRAME_UNSURE (1ULL << 60)

/*
 * Flags in a frame, set by the loader: the frame is the number of a place in a script (see
 * loader/stacks/scripts.h).
 */
#define MEMLEAK_FRAME_SCRIPT (MEMLEAK_FRAME_FILE | MEMLEAK_FRAME_UNSURE)
#define MEMLEAK_FRAME_IS_SCRIPT(frame)                                                             \
	(((frame) & (1ULL << 63 | MEMLEAK_FRAME_SCRIPT)) == MEMLEAK_FRAME_SCRIPT)

/*
 * Flag in a frame: no mapping was known at its address during the walk, so the caller's frame was
 * found by the frame pointer. The loader cuts the stack after this frame, unless it finds that the
 * code has no unwind table.
 */
#define MEMLEAK_FRAME_UNKNOWN (1ULL << 59)

/* Methods of walking user stacks. */
enum memleak_unwind {
	MEMLEAK_UNWIND_AUTO,  /* by unwind tables, and by frame pointers where there is no table */
	MEMLEAK_UNWIND_FP,    /* by frame pointers only */
	MEMLEAK_UNWIND_DWARF, /* by unwind tables only */
};

/*
 * Number of elements in the array that counts frees of blocks from before tracing began. Two images
 * may share an element.
 */
#define MEMLEAK_EARLIER_CNT 16384

static inline __attribute__((always_inline)) __u32 memleak_earlier_at(__u32 image)
{
	return (image * 2654435761U) / (0xffffffffU / MEMLEAK_EARLIER_CNT + 1);
}

struct memleak_earlier {
	__u64 frees;
	__u64 sized; /* number of frees of blocks whose size could be read */
	__u64 bytes; /* total size of these blocks */
};

/* Options of the BPF programs. Constant after load. */
struct memleak_config {
	__u64 min_size;
	__u64 max_size;
	__u64 wide_size;    /* minimum size of blocks counted in wide_bytes */
	__u64 sample_bytes; /* mean distance between samples in bytes; 0 without --sample-bytes */
	__u32 sample_rate;  /* on average, one call in this number is sampled; 1: all calls */
	__u32 stack_depth;
	__u32 unwind; /* enum memleak_unwind */
	__u32 recent_mask;
	__u32 filter_mask;
	__u32 max_allocs;
	__u32 pid_namespace; /* inode of the pid namespace used; 0 for the initial one */
	/* --count: hierarchy of the cgroups, as in memleak_target_filter.cgroup_subsys */
	__u32 count_subsys;
	__u8 combined_only;
	__u8 trace_events;
	__u8 trace_stacks; /* send a stack with each event (-tt) */
	__u8 stack_cache;  /* recognise stacks that were walked before */
	__u8 never;        /* always 0, unknown to the compiler: see stay_on_own_stack() */
	__u8 exchange;     /* 1 if atomic compare-and-exchange is available */
	__u8 find_vma;     /* 1 if stacks can be walked with the kernel's VMAs */
	__u8 recent;       /* use the recent-block cache */
	__u8 summary;      /* keep totals for each image */
	__u8 peak;         /* keep the total size of all blocks */
	__u8 earlier;      /* count frees of blocks older than tracing */
	__u8 grows;        /* 1 if a second block table may be added */
	__u8 quotas;       /* use per-process quotas of the block table */
	__u8 count;        /* enum memleak_count_by; if not 0, calls are only counted */
	__u8 descriptors;  /* --fds: track file descriptors, except those that children inherit */
	/* --count: 1 if probes fire for all processes, but only calls of targets count */
	__u8 count_targets;
	/* 1 if each probe fires for one process only, not for those that share its memory */
	__u8 bound;
	/* 1 for probe sessions: the program at an entry decides whether the return is reported */
	__u8 sessions;
	/* 1 if heap blocks are sampled by the step in sampling_step, instead of at a fixed rate */
	__u8 steps;
};

/* Records in the control ring, about mappings and the life of processes, in order. */
enum memleak_record_type {
	MEMLEAK_REC_MAP,    /* new mapping of len bytes at addr, made at the site `site` */
	MEMLEAK_REC_TAKE,   /* len bytes at addr are about to be unmapped, replaced or moved */
	MEMLEAK_REC_UNTAKE, /* the call failed: undoes the thread's most recent TAKE */
	MEMLEAK_REC_GONE,   /* the call succeeded: makes the thread's most recent TAKE final */
	MEMLEAK_REC_MOVE,   /* the range of the most recent TAKE was moved: now len bytes at addr */
	MEMLEAK_REC_EXEC,   /* exec; addr is the new image, len is 1 if not by the main thread */
	MEMLEAK_REC_FORK,   /* first fork of the process; addr is the child's pid */
	MEMLEAK_REC_SHARER, /* new child that shares the memory; addr is its pid */
	MEMLEAK_REC_NEW, /* new target; addr: parent's image or 0, len: 1 if it inherits blocks */
	/*
	 * a target has ended or is no longer traced; addr is its unload count, len the signal that
	 * killed it, or 0, plus MEMLEAK_KILLED_FOR_MEMORY if the kernel ran out of memory
	 */
	MEMLEAK_REC_END,
	MEMLEAK_REC_NO_TARGET, /* exec by a target, which is no target any more */
	MEMLEAK_REC_LIBS,      /* the dynamic loader has changed its list of libraries */
	MEMLEAK_REC_CODE,      /* a walk found unknown code at addr */
	MEMLEAK_REC_STACKS,    /* the stack table is getting full */
	MEMLEAK_REC_BLOCKS,    /* the first block table may be getting full */
	MEMLEAK_REC_PEAK,      /* the outstanding bytes have reached the loader's limit */
	MEMLEAK_REC_SCRIPT,    /* a new stack, whose key is addr, has frames of scripts */
	MEMLEAK_REC_ITEMS,     /* a watched item count was written MEMLEAK_ITEM_WRITES times */
};

/* Parts of `len` in MEMLEAK_REC_END */
#define MEMLEAK_KILLED_BY 0x7f
#define MEMLEAK_KILLED_FOR_MEMORY 0x80

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
	__u32 flags; /* MEMLEAK_TAKE_COPY or 0; only in TAKE records */
};

#define MEMLEAK_TAKE_COPY 1U /* mremap(MREMAP_DONTUNMAP): the old range stays mapped */

/* A copy of a deferred stack. The record ends within copy.stack_bytes, after the copied bytes. */
struct memleak_stack_copy {
	__u64 deferred; /* key of the deferred stack in the stack table */
	__u32 image;
	struct unwind_copy copy;
};

#define MEMLEAK_DEFERRED_COPY_BYTES(stack_bytes)                                                   \
	(__builtin_offsetof(struct memleak_stack_copy, copy.stack_bytes) + (stack_bytes))

#endif
