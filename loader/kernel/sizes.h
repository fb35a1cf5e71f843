/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of sizes by name, and a comparison of two tables: which sizes have grown most. */
#ifndef LOADER_KERNEL_SIZES_H
#define LOADER_KERNEL_SIZES_H

#include <stddef.h>

#include "report/kernel_growth.h"

struct named_size {
	char *name;
	uint64_t bytes;
};

struct named_sizes {
	struct named_size *items;
	size_t cnt, cap;
};

/* Adds a size. The name is copied. Returns 0 or -ENOMEM. */
int named_sizes_add(struct named_sizes *sizes, const char *name, uint64_t bytes);
/* Sorts a table by name, and adds up sizes of the same name. */
void named_sizes_sort(struct named_sizes *sizes);
void named_sizes_deinit(struct named_sizes *sizes);

/*
 * Compares two sorted tables. Stores the growths in `ret`, the largest growth first, with their
 * names and sizes. Returns the number of growths. Leaves out growths of less than 64 KiB, and those
 * of less than 1 % of the largest. Returns 0 if the table `before` is empty. The names point into
 * `now`.
 */
size_t named_sizes_grown(const struct named_sizes *before, const struct named_sizes *now,
			 struct kernel_growth ret[KERNEL_GROWTHS_MAX]);

#endif
