/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions allocate and free, and the shape of a call to each. What a new function or
 * a new shape needs is listed in CONTRIBUTING.md.
 */
#ifndef LOADER_PROBES_ALLOCATORS_H
#define LOADER_PROBES_ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/memleak.h"

enum allocator_family {
	ALLOCATOR_C,        /* what C libraries have; -S puts a prefix before it */
	ALLOCATOR_MAPS,     /* mmap and its kin, of no allocator */
	ALLOCATOR_OWN,      /* of one allocator, under its own names */
	ALLOCATOR_OPERATOR, /* operators of C++ that give memory or take it back */
	ALLOCATOR_THROWING, /* those that an exception may leave */
};

struct allocator_function {
	const char *name;
	enum memleak_shape shape;
	enum allocator_family family;
};

extern const struct allocator_function allocator_functions[];
extern const size_t allocator_function_cnt;

/* The functions that map memory; they carry no prefix and no -O replaces them. */
bool shape_maps(enum memleak_shape shape);

/* The functions that hand out memory or take it back. */
bool shape_is_of_heap(enum memleak_shape shape);

/* How many of its first arguments the program at its entry reads; see bpf/user_probes. */
unsigned int shape_argument_cnt(enum memleak_shape shape);

/* An operator new or delete; most call malloc and free, and need no probe of their own. */
bool allocator_is_operator(const struct allocator_function *function);

/* Whether the result of a call matters: everything but a free. */
bool shape_returns(enum memleak_shape shape);

#endif
