// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of what is counted. */
#include "report/figures.h"

#include <stddef.h>

const char *shape_name(enum memleak_shape shape)
{
	static const char *const names[MEMLEAK_SHAPE_CNT] = {
		[MEMLEAK_SHAPE_SIZE] = "malloc",
		[MEMLEAK_SHAPE_COUNT_SIZE] = "calloc",
		[MEMLEAK_SHAPE_ALIGN_SIZE] = "aligned_alloc",
		[MEMLEAK_SHAPE_REALLOC] = "realloc",
		[MEMLEAK_SHAPE_REALLOCARRAY] = "reallocarray",
		[MEMLEAK_SHAPE_POSIX_MEMALIGN] = "posix_memalign",
		[MEMLEAK_SHAPE_FREE] = "free",
		[MEMLEAK_SHAPE_MMAP] = "mmap",
		[MEMLEAK_SHAPE_MUNMAP] = "munmap",
		[MEMLEAK_SHAPE_MREMAP] = "mremap",
		[MEMLEAK_SHAPE_STRING] = "strdup",
	};

	return names[shape];
}

const char *table_name(enum table table)
{
	static const char *const names[TABLE_CNT] = {
		[TABLE_BLOCKS] = "blocks", [TABLE_YOUNG] = "young",     [TABLE_SITES] = "sites",
		[TABLE_STACKS] = "stacks", [TABLE_THREADS] = "threads",
	};

	return names[table];
}
