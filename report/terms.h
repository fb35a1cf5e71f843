/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Enumerations in snapshots: kinds of memory, ends of stacks, losses, families of functions.
 * Sources translate their own numbers into these numbers. Recordings store the numbers, so existing
 * numbers never change, and new numbers are appended.
 */
#ifndef REPORT_TERMS_H
#define REPORT_TERMS_H

/* Kind of memory of a block. */
enum block_kind {
	KIND_HEAP,    /* malloc() and similar functions */
	KIND_MMAP,    /* private anonymous memory from mmap */
	KIND_RESERVE, /* reserved address space: no access, or larger than the machine's memory */
	KIND_STACK,   /* mmap with MAP_STACK: a thread's stack */
	KIND_SLAB,
	KIND_PAGE,
	KIND_PERCPU,
	KIND_DESCRIPTOR, /* an open descriptor, whose size is 1 */
	KIND_CNT,
};

/* How a stack walk ended. If it did not reach the outermost frame, the value says why. */
enum stack_end {
	STACK_END_UNKNOWN,
	STACK_END_COMPLETE,
	STACK_END_TRUNCATED, /* the stack has more frames than memleak keeps */
	STACK_END_NO_CODE,   /* the walk found a return address that is in no executable mapping */
	/* The walk found code that has neither unwind information nor a frame pointer. */
	STACK_END_NO_RULE,
	STACK_END_READ, /* stack memory could not be read */
	STACK_END_CNT,
};

/* Ways in which events or data are lost. */
enum loss {
	LOSS_ALLOCS_FULL,  /* block table full (--max-allocs) */
	LOSS_STACKS_FULL,  /* stack table full (--stack-storage-size): block kept, no stack */
	LOSS_NESTING,      /* call whose record was overwritten by a call on another stack */
	LOSS_RECURSION,    /* probe skipped by the kernel */
	LOSS_UNWIND,       /* stack cut: block kept, outer callers not known */
	LOSS_UNRETURNED,   /* call without a return event: longjmp, or the event was missed */
	LOSS_SITES_FULL,   /* site table full: block not tracked */
	LOSS_THREADS_FULL, /* no memory for a thread's state: its calls were not seen */
	LOSS_NO_MEMORY,    /* the kernel had no memory for a table entry: block not tracked */
	LOSS_MAPPINGS,     /* mmap, munmap or mremap calls that were not followed */
	LOSS_EVENTS,       /* lines of -t that were not printed */
	LOSS_EXEC,         /* programs whose first allocations after exec were not seen */
	LOSS_QUOTA_FULL,   /* per-process quota of the block table used up: block not tracked */
	LOSS_PROCESSES,    /* processes that were not traced */
	/* Heaps freed as a whole; their blocks still count as outstanding. */
	LOSS_HEAPS,
	/* Unrecorded frees by parents or forked children; inherited blocks may be wrong. */
	LOSS_INHERITED,
	/* Strings that were read only in part; the size of the part counts as the block's size. */
	LOSS_STRINGS,
	/* Blocks missing in the last report, since reading them would have taken too long. */
	LOSS_UNREAD,
	LOSS_CNT,
};

/*
 * A family is a group of functions with the same effect, named after the best known of them.
 * Numbers that have no name here are unused.
 */
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

/* Returns the name of a kind in reports, such as "heap" or "mmap". */
const char *kind_name(enum block_kind kind);

/* Returns the name of a family, such as "malloc"; NULL if the number is unused. */
const char *family_name(enum family family);

#endif
