/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracked mappings of one process as a sorted list of ranges that do not overlap: what mmap,
 * munmap and mremap make of address space, in parts or whole. Pure data, no I/O.
 *
 * Unmapping is told before it happens: the range is *taken*, and given back if the call failed
 * or put elsewhere if it moved. A thread has one call in progress, so one set of taken pieces.
 * Addresses and lengths are bytes; operations cover whole pages, as the kernel's do.
 *
 * What was mapped without access becomes memory where it gets access, part by part; which parts
 * these are is known as of the last ranges_reconcile().
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
	uint64_t end; /* as asked for: not rounded up to pages */
	uint64_t site;
	uint64_t birth_ns;
	uint64_t mapped_size; /* of the whole mapping when it was made */
	pid_t tid;
	uint32_t kind;          /* enum memleak_kind: see range_kind() */
	uint32_t descendant_of; /* the image whose site it is; 0: the process's own */
	uint64_t placed_ns;     /* when it came to this address */
	bool reserved;          /* mapped without access: of which parts are in use, kind says */
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
	uint64_t memory_bytes; /* a range of more than the machine has is address space */
};

void ranges_init(struct ranges *ranges, uint64_t page_size, uint64_t memory_bytes);
void ranges_deinit(struct ranges *ranges);

/* What kind of memory it is at present. */
uint32_t range_kind(const struct ranges *ranges, const struct range *range);

/* Whether they are one block, of which just one part is in use; b is the range behind a. */
bool range_goes_on(const struct range *a, const struct range *b);

/* What of one call's mapping is of one kind of memory. */
struct range_block {
	const struct range *range; /* the first part of the mapping */
	uint32_t kind;
	uint64_t addr; /* of the first part of that kind */
	uint64_t bytes;
};

/* Each call's mapping is a block for each kind of memory that it has, in however many parts. */
int ranges_visit(const struct ranges *ranges,
		 int (*visit)(void *arg, const struct range_block *block), void *arg);

/* Those with a result return 0 or -ENOMEM. */

/* A new mapping; whatever was tracked there is gone. */
int ranges_insert(struct ranges *ranges, const struct range *range);

/*
 * Takes [addr, addr + len) out and keeps the pieces until the thread's next take. copy: the
 * pieces stay as well.
 */
int ranges_take(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, bool copy);

/* The call succeeded: the thread's taken pieces are gone for good. */
void ranges_forget(struct ranges *ranges, pid_t tid);

/* The call failed: the thread's taken pieces are where they were. */
int ranges_untake(struct ranges *ranges, pid_t tid);

/* The thread's taken pieces are since now_ns at addr, the last one grown or all cut to len bytes.
 */
int ranges_move(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, uint64_t now_ns);

/*
 * Drops what is no anonymous memory of the process any more, though nobody has told, and finds out
 * which parts of what was reserved are in use: of what was placed before as_of_ns, when reading the
 * maps began. Whatever had been told until then has been applied.
 */
int ranges_reconcile(struct ranges *ranges, const struct proc_maps *maps, uint64_t as_of_ns);

/* A forked child begins with copies of what its parent has, which ran that image. */
int ranges_inherit(struct ranges *ranges, const struct ranges *parent, uint32_t image);

/* Everything is gone: the process runs another image. */
void ranges_clear(struct ranges *ranges);

#endif
