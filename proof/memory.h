/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory of a stopped process, of a copy of a process, of a core file, or of a running process.
 * Content and maps are untrusted.
 */
#ifndef PROOF_MEMORY_H
#define PROOF_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"

struct memory;

/*
 * Receives a run of pages that visit_written() has found. May return nonzero to end the visit with
 * this value.
 */
typedef int memory_visit_fn(void *arg, uint64_t start, uint64_t end);

/* read() must be safe to call from several threads. */
struct memory_ops {
	/*
	 * Reads up to len bytes at addr. Returns the number of bytes read, less than len (down to
	 * 0) if the rest cannot be read; or a negative errno if no memory can be read any more.
	 */
	ssize_t (*read)(const struct memory *memory, uint64_t addr, void *buf, size_t len);
	/*
	 * Visits, in ascending order, the pages of a mapping that the process may have written to.
	 * Visits only the range from start to end, both page-aligned. Pages of the range that are
	 * not visited have the content of the mapped file, or zeros. Returns 0, a negative errno,
	 * or the nonzero value that visit() returned.
	 */
	int (*visit_written)(const struct memory *memory, const struct mapping *mapping,
			     uint64_t start, uint64_t end, memory_visit_fn *visit, void *arg);
	void (*free)(struct memory *memory);
};

struct memory {
	const struct memory_ops *ops;
	struct proc_maps maps; /* mappings; the owner frees them, after calling ops->free() */
	uint64_t page_size;
	bool changes; /* true if the process may change the memory while it is read */
	/* Pointer bits that the processor ignores, so that programs may have tags there. */
	uint64_t ignored_bits;
};

#endif
