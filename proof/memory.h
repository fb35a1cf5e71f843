/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a process had in memory at one moment, wherever that is read from: a process that does not
 * change meanwhile, a copy of one, or a core file. All that is read is hostile: it is compared, and
 * never trusted.
 */
#ifndef PROOF_MEMORY_H
#define PROOF_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"

struct memory;

/* A run of pages that hold something; anything but 0 ends the search, and is returned by it. */
typedef int memory_visit_fn(void *arg, uint64_t start, uint64_t end);

/* Read from by several threads at a time. */
struct memory_ops {
	/*
	 * Reads what there is from addr on, at most len bytes. How many there were: fewer, down to
	 * 0, where what follows cannot be read. A negative errno: nothing can be read any more.
	 */
	ssize_t (*read)(const struct memory *memory, uint64_t addr, void *buf, size_t len);
	/*
	 * Visits the pages of a mapping, from start to end, both at pages, that the process may
	 * have written to, in ascending order; others hold what their file has, or zeros. 0 or a
	 * negative errno.
	 */
	int (*visit_written)(const struct memory *memory, const struct mapping *mapping,
			     uint64_t start, uint64_t end, memory_visit_fn *visit, void *arg);
	void (*free)(struct memory *memory);
};

struct memory {
	const struct memory_ops *ops;
	struct proc_maps maps; /* its owner deinits them after free */
	uint64_t page_size;
	uint64_t ignored_bits; /* of pointers, by the processor: programs may keep tags there */
};

#endif
