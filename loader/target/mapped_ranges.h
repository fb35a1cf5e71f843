/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracked mappings of one process as a sorted list of disjoint ranges. mmap(), munmap() and
 * mremap() add, remove and move ranges or parts of ranges. Plain data, no I/O.
 *
 * A system call that unmaps or moves memory is reported before it happens: the memory is *taken*
 * out of the list. The taken pieces are put back if the call fails, or put at another address if
 * the memory moves. A thread makes one system call at a time, so each thread has at most one set of
 * taken pieces. Addresses and lengths are in bytes; operations apply to whole pages, as in the
 * kernel.
 *
 * A mapping without access (PROT_NONE) is reserved memory. When parts of it get access, the next
 * ranges_reconcile() finds these parts, and they count as memory in use.
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
	uint64_t end; /* end as the program requested it, not rounded up to pages */
	uint64_t site;
	uint64_t birth_ns;
	uint64_t mapped_size; /* original size of the whole mapping */
	pid_t tid;
	uint32_t kind;          /* enum memleak_kind; see range_kind() */
	uint32_t descendant_of; /* image of the ancestor that made the mapping; 0 if the process
				   itself made it */
	uint64_t placed_ns;     /* time when the range came to this address */
	/* true if the memory was mapped without access; `kind` says whether it is in use by now */
	bool reserved;
};

struct taken;

struct ranges {
	struct range *items;
	size_t cnt;
	/*
	 * Unused elements before and behind the items. The kernel places mappings downwards, so
	 * most items are added in front.
	 */
	size_t before;
	size_t behind;
	uint64_t lost; /* number of ranges that were rejected because of RANGES_MAX */
	struct taken *taken;
	size_t taken_cnt;
	size_t taken_cap;
	uint64_t page_size;
	uint64_t memory_bytes; /* total memory of the machine; a range larger than that counts as
				  reserved */
};

void ranges_init(struct ranges *ranges, uint64_t page_size, uint64_t memory_bytes);
void ranges_deinit(struct ranges *ranges);

/* Returns the current kind of memory of the range. */
uint32_t range_kind(const struct ranges *ranges, const struct range *range);

/* True if `b` directly follows `a` in the same mapping, and they have different kinds of memory. */
bool range_goes_on(const struct range *a, const struct range *b);

/*
 * All parts of one mapping that have the same kind. A mapping is the memory that one call mapped.
 */
struct range_block {
	const struct range *range; /* the first part of the mapping, which may have another kind */
	uint32_t kind;
	uint64_t addr; /* start of the first part that has this kind */
	uint64_t bytes;
};

/* Calls visit() for the blocks of all mappings, until visit() returns non-zero. */
int ranges_visit(const struct ranges *ranges,
		 int (*visit)(void *arg, const struct range_block *block), void *arg);

/* Maximum number of ranges. Limits the memory for a process that keeps mapping memory. */
#define RANGES_MAX (1U << 18)

/*
 * ranges_insert(), ranges_take(), ranges_untake(), ranges_move(), ranges_reconcile() and
 * ranges_inherit() return 0 or -ENOMEM.
 */

/*
 * Adds a new mapping, and drops the parts of tracked ranges that it overlaps. If there are
 * RANGES_MAX ranges, counts the mapping as lost instead.
 */
int ranges_insert(struct ranges *ranges, const struct range *range);

/*
 * Takes the ranges in [addr, addr + len) out of the list, or copies them if `copy` is set. The
 * pieces are stored until ranges_forget(), ranges_untake(), ranges_move() or ranges_take() is
 * called for this thread.
 */
int ranges_take(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, bool copy);

/* Deletes the thread's taken pieces after its system call has succeeded. */
void ranges_forget(struct ranges *ranges, pid_t tid);

/* Puts the thread's taken pieces back into the list after its system call has failed. */
int ranges_untake(struct ranges *ranges, pid_t tid);

/*
 * Drops what the list has in [addr, addr + len), and puts the thread's taken pieces there. len: new
 * total length of the pieces; if it has grown, only the last piece grows. now_ns: time of the move.
 */
int ranges_move(struct ranges *ranges, pid_t tid, uint64_t addr, uint64_t len, uint64_t now_ns);

/*
 * Drops ranges (or parts) that are no longer anonymous memory of the process, and finds the parts
 * of reserved ranges that are in use. as_of_ns: time when memleak began to read maps from /proc.
 * Changes only ranges whose placed_ns is before as_of_ns. All records until as_of_ns must have been
 * applied.
 */
int ranges_reconcile(struct ranges *ranges, const struct proc_maps *maps, uint64_t as_of_ns);

/* Replaces all ranges by copies of the parent's ranges after a fork. image: image of the parent. */
int ranges_inherit(struct ranges *ranges, const struct ranges *parent, uint32_t image);

/* Drops all ranges: exec has unmapped them. */
void ranges_clear(struct ranges *ranges);

#endif
