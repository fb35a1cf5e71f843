// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of allocator functions. */
#include "loader/probes/allocators.h"

#define C(name, shape)                                                                             \
	{                                                                                          \
		name, MEMLEAK_SHAPE_##shape, ALLOCATOR_C                                           \
	}
#define MAPS(name, shape)                                                                          \
	{                                                                                          \
		name, MEMLEAK_SHAPE_##shape, ALLOCATOR_MAPS                                        \
	}
#define OWN(name, shape)                                                                           \
	{                                                                                          \
		name, MEMLEAK_SHAPE_##shape, ALLOCATOR_OWN                                         \
	}
#define OPERATOR(name, shape)                                                                      \
	{                                                                                          \
		name, MEMLEAK_SHAPE_##shape, ALLOCATOR_OPERATOR                                    \
	}
#define THROWING(name, shape)                                                                      \
	{                                                                                          \
		name, MEMLEAK_SHAPE_##shape, ALLOCATOR_THROWING                                    \
	}

/*
 * jemalloc's functions, with the prefix that a program or a language runtime adds to their names.
 */
#define JEMALLOC(prefix)                                                                           \
	OWN(prefix "malloc", SIZE), OWN(prefix "calloc", COUNT_SIZE),                              \
		OWN(prefix "realloc", REALLOC), OWN(prefix "posix_memalign", POSIX_MEMALIGN),      \
		OWN(prefix "aligned_alloc", ALIGN_SIZE), OWN(prefix "memalign", ALIGN_SIZE),       \
		OWN(prefix "reallocarray", REALLOCARRAY), OWN(prefix "cfree", FREE),               \
		OWN(prefix "valloc", SIZE), OWN(prefix "pvalloc", SIZE), OWN(prefix "free", FREE), \
		OWN(prefix "free_sized", FREE), OWN(prefix "free_aligned_sized", FREE),            \
		JEMALLOC_X(prefix)
#define JEMALLOC_X(prefix)                                                                         \
	OWN(prefix "mallocx", SIZE), OWN(prefix "rallocx", REALLOC),                               \
		OWN(prefix "xallocx", RESIZE), OWN(prefix "dallocx", FREE),                        \
		OWN(prefix "sdallocx", FREE)

/*
 * Mapping functions come last, because allocators call them. Probes are attached one by one in this
 * order: if mmap() were probed before malloc(), a call of malloc() that calls mmap() would look
 * like a call of mmap().
 */
const struct allocator_function allocator_functions[] = {
	C("malloc", SIZE),
	C("calloc", COUNT_SIZE),
	C("realloc", REALLOC),
	C("reallocarray", REALLOCARRAY),
	C("posix_memalign", POSIX_MEMALIGN),
	C("aligned_alloc", ALIGN_SIZE),
	C("memalign", ALIGN_SIZE),
	C("valloc", SIZE),
	C("pvalloc", SIZE),
	C("free", FREE),
	C("cfree", FREE),
	C("free_sized", FREE),
	C("free_aligned_sized", FREE),

	JEMALLOC_X(""),
	JEMALLOC("je_"),
	JEMALLOC("_rjem_"),
	JEMALLOC("_rjem_je_"),

	OWN("tc_malloc", SIZE),
	OWN("tc_malloc_skip_new_handler", SIZE),
	OWN("tc_calloc", COUNT_SIZE),
	OWN("tc_realloc", REALLOC),
	OWN("tc_posix_memalign", POSIX_MEMALIGN),
	OWN("tc_memalign", ALIGN_SIZE),
	OWN("tc_valloc", SIZE),
	OWN("tc_pvalloc", SIZE),
	OWN("tc_free", FREE),
	OWN("tc_free_sized", FREE),
	OWN("tc_cfree", FREE),

	OWN("mi_malloc", SIZE),
	OWN("mi_malloc_small", SIZE),
	OWN("mi_zalloc", SIZE),
	OWN("mi_zalloc_small", SIZE),
	OWN("mi_calloc", COUNT_SIZE),
	OWN("mi_mallocn", COUNT_SIZE),
	OWN("mi_realloc", REALLOC),
	OWN("mi_rezalloc", REALLOC),
	OWN("mi_reallocf", REALLOCF),
	OWN("mi_expand", REALLOC),
	OWN("mi__expand", REALLOC),
	OWN("mi_reallocn", REALLOCARRAY),
	OWN("mi_recalloc", REALLOCARRAY),
	OWN("mi_reallocarray", REALLOCARRAY),
	OWN("mi_malloc_aligned", SIZE),
	OWN("mi_malloc_aligned_at", SIZE),
	OWN("mi_zalloc_aligned", SIZE),
	OWN("mi_zalloc_aligned_at", SIZE),
	OWN("mi_calloc_aligned", COUNT_SIZE),
	OWN("mi_calloc_aligned_at", COUNT_SIZE),
	OWN("mi_realloc_aligned", REALLOC),
	OWN("mi_realloc_aligned_at", REALLOC),
	OWN("mi_rezalloc_aligned", REALLOC),
	OWN("mi_rezalloc_aligned_at", REALLOC),
	OWN("mi_recalloc_aligned", REALLOCARRAY),
	OWN("mi_recalloc_aligned_at", REALLOCARRAY),
	OWN("mi_posix_memalign", POSIX_MEMALIGN),
	OWN("mi_memalign", ALIGN_SIZE),
	OWN("mi_aligned_alloc", ALIGN_SIZE),
	OWN("mi_valloc", SIZE),
	OWN("mi_pvalloc", SIZE),
	OWN("mi_free", FREE),
	OWN("mi_cfree", FREE),
	OWN("mi_free_size", FREE),
	OWN("mi_free_aligned", FREE),
	OWN("mi_free_size_aligned", FREE),
	/*
	 * The first argument of mi_heap_ functions is the heap. If the second one is the size, the
	 * shape is ALIGN_SIZE, which ignores the first argument.
	 */
	OWN("mi_heap_malloc", ALIGN_SIZE),
	OWN("mi_heap_malloc_small", ALIGN_SIZE),
	OWN("mi_heap_zalloc", ALIGN_SIZE),
	OWN("mi_heap_malloc_aligned", ALIGN_SIZE),
	OWN("mi_heap_malloc_aligned_at", ALIGN_SIZE),
	OWN("mi_heap_zalloc_aligned", ALIGN_SIZE),
	OWN("mi_heap_zalloc_aligned_at", ALIGN_SIZE),
	OWN("mi_heap_calloc", HEAP_COUNT_SIZE),
	OWN("mi_heap_mallocn", HEAP_COUNT_SIZE),
	OWN("mi_heap_calloc_aligned", HEAP_COUNT_SIZE),
	OWN("mi_heap_calloc_aligned_at", HEAP_COUNT_SIZE),
	OWN("mi_heap_realloc", HEAP_REALLOC),
	OWN("mi_heap_reallocf", HEAP_REALLOCF),
	OWN("mi_heap_rezalloc", HEAP_REALLOC),
	OWN("mi_heap_realloc_aligned", HEAP_REALLOC),
	OWN("mi_heap_realloc_aligned_at", HEAP_REALLOC),
	OWN("mi_heap_rezalloc_aligned", HEAP_REALLOC),
	OWN("mi_heap_rezalloc_aligned_at", HEAP_REALLOC),
	OWN("mi_heap_reallocn", HEAP_REALLOCARRAY),
	OWN("mi_heap_recalloc", HEAP_REALLOCARRAY),
	OWN("mi_heap_recalloc_aligned", HEAP_REALLOCARRAY),
	OWN("mi_heap_recalloc_aligned_at", HEAP_REALLOCARRAY),
	OWN("mi_heap_destroy", HEAP_DESTROY),
	OWN("mi_heap_strdup", STRING),
	OWN("mi_heap_strndup", STRING),
	OWN("mi_heap_realpath", HEAP_PATH),
	OWN("mi_strdup", STRING),
	OWN("mi_strndup", STRING),
	OWN("mi_realpath", PATH),

	/* Sanitizers' replacements of strdup(), which allocate without calling malloc(). */
	OWN("__interceptor_strdup", STRING),
	OWN("__interceptor___strdup", STRING),

	/* In operator new, the first argument is the size; its other arguments are ignored. */
	THROWING("_Znwm", SIZE),
	THROWING("_ZnwmSt11align_val_t", SIZE),
	OPERATOR("_ZnwmRKSt9nothrow_t", SIZE),
	OPERATOR("_ZnwmSt11align_val_tRKSt9nothrow_t", SIZE),
	THROWING("_Znam", SIZE),
	THROWING("_ZnamSt11align_val_t", SIZE),
	OPERATOR("_ZnamRKSt9nothrow_t", SIZE),
	OPERATOR("_ZnamSt11align_val_tRKSt9nothrow_t", SIZE),
	THROWING("mi_new", SIZE),
	THROWING("mi_new_aligned", SIZE),
	THROWING("mi_new_n", COUNT_SIZE),
	OPERATOR("mi_new_nothrow", SIZE),
	OPERATOR("mi_new_aligned_nothrow", SIZE),
	THROWING("mi_new_realloc", REALLOC),
	THROWING("mi_new_reallocn", REALLOCARRAY),
	THROWING("mi_heap_alloc_new", ALIGN_SIZE),
	THROWING("mi_heap_alloc_new_n", HEAP_COUNT_SIZE),
	OPERATOR("_ZdlPv", FREE),
	OPERATOR("_ZdlPvm", FREE),
	OPERATOR("_ZdlPvSt11align_val_t", FREE),
	OPERATOR("_ZdlPvmSt11align_val_t", FREE),
	OPERATOR("_ZdlPvRKSt9nothrow_t", FREE),
	OPERATOR("_ZdlPvSt11align_val_tRKSt9nothrow_t", FREE),
	OPERATOR("_ZdaPv", FREE),
	OPERATOR("_ZdaPvm", FREE),
	OPERATOR("_ZdaPvSt11align_val_t", FREE),
	OPERATOR("_ZdaPvmSt11align_val_t", FREE),
	OPERATOR("_ZdaPvRKSt9nothrow_t", FREE),
	OPERATOR("_ZdaPvSt11align_val_tRKSt9nothrow_t", FREE),

	MAPS("mmap", MMAP),
	MAPS("mmap64", MMAP),
	MAPS("munmap", MUNMAP),
	MAPS("mremap", MREMAP),
};

const size_t allocator_function_cnt = sizeof(allocator_functions) / sizeof(allocator_functions[0]);

bool shape_maps(enum memleak_shape shape)
{
	return shape == MEMLEAK_SHAPE_MMAP || shape == MEMLEAK_SHAPE_MUNMAP ||
	       shape == MEMLEAK_SHAPE_MREMAP;
}

bool shape_is_of_heap(enum memleak_shape shape)
{
	return shape < MEMLEAK_SHAPE_LIBRARIES && !shape_maps(shape);
}

unsigned int shape_argument_cnt(enum memleak_shape shape)
{
	switch (shape) {
	case MEMLEAK_SHAPE_STRING:
		return 0;
	case MEMLEAK_SHAPE_SIZE:
	case MEMLEAK_SHAPE_FREE:
	case MEMLEAK_SHAPE_HEAP_DESTROY:
		return 1;
	case MEMLEAK_SHAPE_COUNT_SIZE:
	case MEMLEAK_SHAPE_ALIGN_SIZE:
	case MEMLEAK_SHAPE_REALLOC:
	case MEMLEAK_SHAPE_REALLOCF:
	case MEMLEAK_SHAPE_MUNMAP:
	case MEMLEAK_SHAPE_HEAP_FREE:
	case MEMLEAK_SHAPE_PATH:
		return 2;
	case MEMLEAK_SHAPE_REALLOCARRAY:
	case MEMLEAK_SHAPE_POSIX_MEMALIGN:
	case MEMLEAK_SHAPE_HEAP_COUNT_SIZE:
	case MEMLEAK_SHAPE_HEAP_REALLOC:
	case MEMLEAK_SHAPE_HEAP_REALLOCF:
	case MEMLEAK_SHAPE_RESIZE:
	case MEMLEAK_SHAPE_HEAP_PATH:
		return 3;
	case MEMLEAK_SHAPE_HEAP_REALLOCARRAY:
		return 4;
	default:
		return 6; /* all arguments that are passed in registers */
	}
}

bool allocator_is_operator(const struct allocator_function *function)
{
	return function->family == ALLOCATOR_OPERATOR || function->family == ALLOCATOR_THROWING;
}

bool shape_returns(enum memleak_shape shape)
{
	return shape != MEMLEAK_SHAPE_FREE && shape != MEMLEAK_SHAPE_HEAP_FREE &&
	       shape != MEMLEAK_SHAPE_HEAP_DESTROY;
}
