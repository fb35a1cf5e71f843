/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Table of the functions that allocate and free memory, each with the shape of its calls.
 * CONTRIBUTING.md lists what to change for a new function or shape.
 */
#ifndef LOADER_PROBES_ALLOCATORS_H
#define LOADER_PROBES_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/memleak.h"

enum allocator_family {
	ALLOCATOR_C,        /* functions of C libraries; -S adds a prefix to their names */
	ALLOCATOR_MAPS,     /* mmap() and related functions */
	ALLOCATOR_OWN,      /* functions with names that only one allocator uses */
	ALLOCATOR_OPERATOR, /* C++ operators that allocate or free */
	ALLOCATOR_THROWING, /* C++ operators that may throw an exception */
};

struct allocator_function {
	const char *name;
	enum memleak_shape shape;
	enum allocator_family family;
};

extern const struct allocator_function allocator_functions[];
extern const size_t allocator_function_cnt;

/*
 * True for functions that map or unmap memory. -S does not change their names, and -O does not
 * change the files in which they are probed.
 */
bool shape_maps(enum memleak_shape shape);

/* True for functions that allocate or free heap memory. */
bool shape_is_of_heap(enum memleak_shape shape);

/* Returns the number of arguments that the entry program reads; see bpf/user_probes. */
unsigned int shape_argument_cnt(enum memleak_shape shape);

/*
 * True for operator new and operator delete. Most of these operators only call malloc() or free(),
 * and need no probe of their own.
 */
bool allocator_is_operator(const struct allocator_function *function);

/* True if probes need the result of a call. False for functions that only free. */
bool shape_returns(enum memleak_shape shape);

#endif
