/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions that allocate and free memory, and the shape of a call to each. CONTRIBUTING.md
 * lists what to change for a new function or shape.
 */
#ifndef LOADER_PROBES_ALLOCATORS_H
#define LOADER_PROBES_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/memleak.h"

enum allocator_family {
	ALLOCATOR_C,        /* functions of C libraries; -S adds a prefix to their names */
	ALLOCATOR_MAPS,     /* mmap and related functions, which belong to no allocator */
	ALLOCATOR_OWN,      /* one allocator's functions with its own names */
	ALLOCATOR_OPERATOR, /* C++ operators that allocate or free */
	ALLOCATOR_THROWING, /* C++ operators that may throw */
};

struct allocator_function {
	const char *name;
	enum memleak_shape shape;
	enum allocator_family family;
};

extern const struct allocator_function allocator_functions[];
extern const size_t allocator_function_cnt;

/* True for functions that map memory. They take no prefix, and -O does not replace them. */
bool shape_maps(enum memleak_shape shape);

/* True for functions that allocate or free heap memory. */
bool shape_is_of_heap(enum memleak_shape shape);

/* Returns how many arguments the entry program reads; see bpf/user_probes. */
unsigned int shape_argument_cnt(enum memleak_shape shape);

/* True for operator new and delete; most call malloc and free, and need no probe. */
bool allocator_is_operator(const struct allocator_function *function);

/* True if the result of a call is needed: false only for functions that free. */
bool shape_returns(enum memleak_shape shape);

#endif
