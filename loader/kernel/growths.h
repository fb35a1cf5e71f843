/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds which slab caches and lines of code use more memory than when tracing began. */
#ifndef LOADER_KERNEL_GROWTHS_H
#define LOADER_KERNEL_GROWTHS_H

#include "loader/kernel/caches.h"
#include "loader/kernel/sizes.h"
#include "report/snapshot.h"

/*
 * Memory of slab caches and lines of kernel code at one time. Both tables are sorted by name, and
 * empty if the kernel's file cannot be read.
 */
struct kernel_sizes {
	struct named_sizes caches;
	struct named_sizes lines;
};

/*
 * Takes cache sizes from `caches`, and reads those of lines from /proc/allocinfo. Returns 0 or
 * -ENOMEM.
 */
int kernel_sizes_init(const struct slab_caches *caches, struct kernel_sizes *ret);
void kernel_sizes_deinit(struct kernel_sizes *sizes);

/* Lists in the snapshot which sizes have grown most. Returns 0 or -ENOMEM. */
int kernel_sizes_compare(const struct kernel_sizes *before, const struct kernel_sizes *now,
			 struct snapshot *snap);

#endif
