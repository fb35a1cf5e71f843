/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracked mappings of one process as a sorted list of disjoint ranges, updated as mmap, munmap
 * and mremap change the address space, in parts or as a whole. Plain data, no I/O.
 *
 * Unmapping is reported before it happens: the range is *taken*. It is put back if the call fails,
 * or put elsewhere if the memory moves. A thread has one call in progress, and so one set of taken
 * pieces. Addresses and lengths are in bytes; operations cover whole pages, as the kernel's do.
 *
 * A mapping without access counts as memory where it gets access, part by part. Which parts have
 * access is known as of the last ranges_reconcile().
 */
#ifndef LOADER_TARGET_MAPPED_RANGES_H
#define LOADER_TARGET_MAPPED_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"

struct range {
	uint64_t start;
	uint64_t end; /* as requested, not rounded up to pages */
	uint64_t site;
	uint64_t birth_ns;
	uint64_t mapped_size; /* size of the whole mapping when it was made */
	pid_t tid;
	uint32_t kind;          /* enum memleak_kind: see range_kind() */
	uint32_t descendant_of; /* image that made the site; 0 for the process itself */
	uint64_t placed_ns;     /* when the range came to this address */
	bool reserved;          /* mapped without access; kind says whether this part is in use */
};

struct taken;

struct ranges {
	struct range *items;
	size_t cnt;
	size_t cap;
	struct taken *taken;
	size_t taken_cnt;
	size_t taken_cap;
	uint64_t page_size;
	uint64_t memory_bytes; /* a range larger than the machine's memory counts as reserved */
};

void ranges_init(struct ranges *ranges, uint64_t page_size, uint64_t memory_bytes);
void ranges_deinit(struct ranges *ranges);

/* Returns the kind of memory that the range is now. */
uint32_t range_kind(const struct ranges *ranges, const struct range *range);

/* True if b, directly behind a, continues a's mapping with another kind of memory. */
bool range_goes_on(const struct range *a, const struct range *b);

/* The parts of one call's mapping that are of one kind. */
struct range_block {
	const struct range *range; /* first part of the mapping */
	uint32_t kind;
	uint64_t addr; /* start of the first part of this kind */
	uint64_t bytes;
};

/*
 * Visits one block for each kind of memory in each call's mapping; a block may have several parts.
 */
int ranges_visit(const struct ranges *ranges,
		 int (*visit)(void *arg, const struct range_block *block), void *arg);

/* The functions below that return int return 0 or -ENOMEM. */

/* Adds a new mapping and drops tracked ranges that it overlaps. */
int ranges_insert(struct ranges *ranges, const struct range *range);

/*
 * Takes [addr, addr + len) out and keeps the pieces until the thread's next take. copy: leaves the
 * pieces in the list as well.
 */
int ranges_take(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, bool copy);

/* Drops the thread's taken pieces after its call succeeded. */
void ranges_forget(struct ranges *ranges, pid_t tid);

/* Puts the thread's taken pieces back after its call failed. */
int ranges_untake(struct ranges *ranges, pid_t tid);

/*
 * Puts the thread's taken pieces at addr as of now_ns. len: their new total length; only the last
 * piece grows.
 */
int ranges_move(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, uint64_t now_ns);

/*
 * Drops ranges that are no longer anonymous memory of the process, and finds out which parts of
 * reserved ranges are in use. Only ranges placed before as_of_ns are changed, the time at which
 * reading maps began; all records until then must have been applied.
 */
int ranges_reconcile(struct ranges *ranges, const struct proc_maps *maps, uint64_t as_of_ns);

/* Copies the parent's ranges to a forked child. image: the parent's image. */
int ranges_inherit(struct ranges *ranges, const struct ranges *parent, uint32_t image);

/* Drops all ranges: the process runs another image. */
void ranges_clear(struct ranges *ranges);

#endif
