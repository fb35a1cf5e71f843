/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What heaps of glibc's held, by size of chunk and by use, and how that meets what the kernel says
 * of the processes' memory: used, free and the allocator's own make up heap_bytes. Chunks have the
 * size that the program may use, not what it asked for. Where they are found is not known here.
 */
#ifndef REPORT_HEAP_CENSUS_H
#define REPORT_HEAP_CENSUS_H

#include <stddef.h>
#include <stdint.h>

#include "report/reach.h"

enum heap_use {
	HEAP_KNOWN, /* a block that memleak tracks */
	HEAP_OLDER, /* other used ones: from before tracing began, or left out by a filter */
	HEAP_FREE,
	HEAP_USE_CNT,
};

/* Each has the sizes up to a power of two: the first up to 32, the last all above 1 TiB. */
#define HEAP_CLASS_BITS_MIN 5U
#define HEAP_CLASSES 37U

/* What a process has of memory and swap, as the kernel counts it; bytes. */
struct memory_use {
	uint64_t anonymous; /* its own pages: heaps, stacks, variables */
	uint64_t file;      /* pages of files that it has mapped */
	uint64_t shared;    /* memory that it shares */
	uint64_t swapped;
};

/* Sums over the processes that were looked at. */
struct heap_census {
	uint64_t processes;
	uint64_t without_heap; /* of these, so many have no heap of glibc's */
	struct reach_sum classes[HEAP_CLASSES][HEAP_USE_CNT];
	uint64_t requested_bytes; /* that known chunks were asked for with: less than they have */
	/* Blocks that memleak tracks, and that are in no heap that was understood. */
	struct reach_sum elsewhere;
	uint64_t arenas;
	uint64_t skipped_arenas;  /* others, which a thread was changing: nothing here is of them */
	uint64_t cut_lists;       /* of free chunks, the rest of which counts as used */
	uint64_t heap_bytes;      /* of all heaps, and of blocks that have mappings of their own */
	uint64_t spare_bytes;     /* the allocator's: at the ends of heaps, free for any size */
	uint64_t present_bytes;   /* of heap_bytes: pages in memory, or swapped out */
	struct memory_use memory; /* all 0: not known, as of a core */
};

/* The largest size of a class; UINT64_MAX: any. */
uint64_t heap_class_upto(size_t class);

void heap_census_add(struct heap_census *census, uint64_t size, enum heap_use use);
void heap_census_join(struct heap_census *census, const struct heap_census *part);

/* How many classes there are up to the last one that has something. */
size_t heap_census_cnt(const struct heap_census *census);

struct reach_sum heap_census_all(const struct heap_census *census, enum heap_use use);
/* The allocator's own: headers, its structures, and what is spare. */
uint64_t heap_census_own(const struct heap_census *census);

uint64_t memory_use_resident(const struct memory_use *use);
/* What the processes have, swapped out or not, that is neither heap, files nor shared. */
uint64_t heap_census_other(const struct heap_census *census);

#endif
