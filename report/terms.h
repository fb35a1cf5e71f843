/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What snapshots distinguish by number: kinds of memory, ends of stacks, ways to lose something,
 * families of functions. Sources translate into these from whatever they read. The numbers stand in
 * recordings: none changes, and what is new comes last.
 */
#ifndef REPORT_TERMS_H
#define REPORT_TERMS_H

/* What a block is made of. */
enum block_kind {
	KIND_HEAP,    /* malloc and its kin */
	KIND_MMAP,    /* private anonymous memory from mmap */
	KIND_RESERVE, /* address space without memory: no access, or more than there is memory */
	KIND_STACK,   /* the same with MAP_STACK: a thread's stack */
	KIND_SLAB,
	KIND_PAGE,
	KIND_PERCPU,
	KIND_DESCRIPTOR, /* an open descriptor, whose size is 1 */
	KIND_CNT,
};

/* How the walk of a stack ended, and for a stack that was cut, why. */
enum stack_end {
	STACK_END_UNKNOWN,
	STACK_END_COMPLETE,
	STACK_END_TRUNCATED, /* more frames than are kept */
	STACK_END_NO_CODE,   /* a return address that is in no executable mapping */
	STACK_END_NO_RULE,   /* code without unwind information or frame pointer */
	STACK_END_READ,      /* stack memory that cannot be read */
	STACK_END_CNT,
};

/* Every way in which something is lost. */
enum loss {
	LOSS_ALLOCS_FULL,  /* block table full (--max-allocs) */
	LOSS_STACKS_FULL,  /* stack table full (--stack-storage-size): block kept, no stack */
	LOSS_NESTING,      /* outermost call overwritten by one on another stack */
	LOSS_RECURSION,    /* probe skipped by the kernel */
	LOSS_UNWIND,       /* stack cut: block kept, its outer callers are not known */
	LOSS_UNRETURNED,   /* call never returned: longjmp, or the return was not seen */
	LOSS_SITES_FULL,   /* site table full: block not tracked */
	LOSS_THREADS_FULL, /* no memory for a thread's state: its calls were not seen */
	LOSS_NO_MEMORY,    /* the kernel had no memory for a table entry: block not tracked */
	LOSS_MAPPINGS,     /* mmap, munmap or mremap calls that were not followed */
	LOSS_EVENTS,       /* -t lines that were not printed */
	LOSS_EXEC,         /* programs executed whose first allocations were not seen */
	LOSS_QUOTA_FULL,   /* the process had its share of the block table */
	LOSS_PROCESSES,    /* processes that were not traced */
	LOSS_HEAPS,        /* heaps that were freed as a whole: their blocks are kept */
	LOSS_INHERITED,    /* frees of blocks that forked children have copies of, or are copies */
	LOSS_STRINGS,      /* strings not read to their end: their sizes are what was read */
	LOSS_CNT,
};

/* Functions that do the same, by the best known of them. The numbers between are nobody's. */
enum family {
	FAMILY_MALLOC,
	FAMILY_CALLOC,
	FAMILY_ALIGNED_ALLOC,
	FAMILY_REALLOC,
	FAMILY_REALLOCARRAY,
	FAMILY_POSIX_MEMALIGN,
	FAMILY_FREE,
	FAMILY_MMAP,
	FAMILY_MUNMAP,
	FAMILY_MREMAP,
	FAMILY_STRDUP = 16,
	FAMILY_CNT = 22,
};

/* In reports: "heap", "mmap", ... */
const char *kind_name(enum block_kind kind);

/* "malloc", ...; NULL: it is none. */
const char *family_name(enum family family);

#endif
