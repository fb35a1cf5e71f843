/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Census of glibc heaps: numbers and bytes of chunks by size and use, with the kernel's figures for
 * the memory of the processes. Used chunks, free chunks and the allocator's own memory add up to
 * heap_bytes. The size of a chunk is its usable size, which may exceed the requested size. Knows
 * nothing of how chunks are found.
 */
#ifndef REPORT_HEAP_CENSUS_H
#define REPORT_HEAP_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "report/reach.h"

enum heap_use {
	HEAP_KNOWN, /* chunk of a block that memleak tracks */
	HEAP_OLDER, /* other used chunk: allocated before tracing began, or filtered out */
	HEAP_FREE,
	HEAP_USE_CNT,
};

/*
 * Each size class ends at a power of two. The first class ends at 32 bytes; the last class has all
 * chunks above 1 TiB.
 */
#define HEAP_CLASS_BITS_MIN 5U
#define HEAP_CLASSES 37U

/* Memory and swap of a process as counted by the kernel, in bytes. */
struct memory_use {
	uint64_t anonymous; /* private pages: heaps, stacks, variables */
	uint64_t file;      /* pages of mapped files */
	uint64_t shared;    /* shared memory */
	uint64_t swapped;
};

/* Sums over the examined processes. */
struct heap_census {
	uint64_t processes;
	uint64_t without_heap; /* number of examined processes that have no glibc heap */
	struct reach_sum classes[HEAP_CLASSES][HEAP_USE_CNT];
	/* Bytes requested for the chunks of tracked blocks; at most their usable size. */
	uint64_t requested_bytes;
	/* Tracked blocks that were found in none of the parsed heaps. */
	struct reach_sum elsewhere;
	uint64_t arenas;
	uint64_t skipped_arenas; /* arenas that were left out because a thread was changing them */
	/* Free lists that were not read to the end; their unread chunks count as used. */
	uint64_t cut_lists;
	/* Size of all heaps, and of all blocks with a mapping of their own. */
	uint64_t heap_bytes;
	uint64_t spare_bytes;   /* free memory at the ends of heaps */
	uint64_t present_bytes; /* part of heap_bytes that is in memory or in swap */
	/* Memory of the processes; all 0 if not known, as for a core file. */
	struct memory_use memory;
};

/* Returns the largest size in a class, in bytes; UINT64_MAX for the last class. */
uint64_t heap_class_upto(size_t class);

/* Returns the size class of a chunk. */
size_t heap_class_of(uint64_t size);

void heap_census_add(struct heap_census *census, uint64_t size, enum heap_use use);
void heap_census_join(struct heap_census *census, const struct heap_census *part);

/* Returns the number of size classes up to the last one that has chunks. */
size_t heap_census_cnt(const struct heap_census *census);

struct reach_sum heap_census_all(const struct heap_census *census, enum heap_use use);
/* Returns the bytes that the allocator uses itself: headers, its structures, and spare memory. */
uint64_t heap_census_own(const struct heap_census *census);

uint64_t memory_use_resident(const struct memory_use *use);
/*
 * Returns the bytes of the processes, in memory or swap, that are not in heaps, mapped files or
 * shared memory.
 */
uint64_t heap_census_other(const struct heap_census *census);

#endif
