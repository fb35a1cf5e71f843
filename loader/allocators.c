// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of allocator functions. */
#include "loader/allocators.h"

/*
 * Functions that others call inside come last: while probes are put in place one by one, a call
 * of an outer function that is not probed yet must not show as one of its inner functions.
 */
const struct allocator_function allocator_functions[] = {
	{"malloc", MEMLEAK_SHAPE_SIZE},
	{"calloc", MEMLEAK_SHAPE_COUNT_SIZE},
	{"realloc", MEMLEAK_SHAPE_REALLOC},
	{"reallocarray", MEMLEAK_SHAPE_REALLOCARRAY},
	{"posix_memalign", MEMLEAK_SHAPE_POSIX_MEMALIGN},
	{"aligned_alloc", MEMLEAK_SHAPE_ALIGN_SIZE},
	{"memalign", MEMLEAK_SHAPE_ALIGN_SIZE},
	{"valloc", MEMLEAK_SHAPE_SIZE},
	{"pvalloc", MEMLEAK_SHAPE_SIZE},
	{"free", MEMLEAK_SHAPE_FREE},
	{"cfree", MEMLEAK_SHAPE_FREE},
	{"free_sized", MEMLEAK_SHAPE_FREE},
	{"free_aligned_sized", MEMLEAK_SHAPE_FREE},
	{"mmap", MEMLEAK_SHAPE_MMAP},
	{"mmap64", MEMLEAK_SHAPE_MMAP},
	{"munmap", MEMLEAK_SHAPE_MUNMAP},
	{"mremap", MEMLEAK_SHAPE_MREMAP},
};

const size_t allocator_function_cnt = sizeof(allocator_functions) / sizeof(allocator_functions[0]);

bool shape_maps(enum memleak_shape shape)
{
	return shape == MEMLEAK_SHAPE_MMAP || shape == MEMLEAK_SHAPE_MUNMAP ||
	       shape == MEMLEAK_SHAPE_MREMAP;
}

unsigned int shape_argument_cnt(enum memleak_shape shape)
{
	switch (shape) {
	case MEMLEAK_SHAPE_SIZE:
	case MEMLEAK_SHAPE_FREE:
		return 1;
	case MEMLEAK_SHAPE_COUNT_SIZE:
	case MEMLEAK_SHAPE_ALIGN_SIZE:
	case MEMLEAK_SHAPE_REALLOC:
	case MEMLEAK_SHAPE_MUNMAP:
		return 2;
	case MEMLEAK_SHAPE_REALLOCARRAY:
	case MEMLEAK_SHAPE_POSIX_MEMALIGN:
		return 3;
	default:
		return 6; /* all that registers hold */
	}
}

bool shape_returns(enum memleak_shape shape)
{
	return shape != MEMLEAK_SHAPE_FREE;
}
