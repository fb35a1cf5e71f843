/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions allocate and free, and the shape of a call to each. Adding a function is one
 * line in the table of allocators.c; adding a shape is one BPF program.
 */
#ifndef ALLOCATORS_H
#define ALLOCATORS_H

#include <stdbool.h>
#include <stddef.h>

#include "bpf/memleak.h"

struct allocator_function {
	const char *name;
	enum memleak_shape shape;
};

extern const struct allocator_function allocator_functions[];
extern const size_t allocator_function_cnt;

/* The functions that map memory; they carry no prefix and no -O replaces them. */
bool shape_maps(enum memleak_shape shape);

/* How many of its first arguments the program at its entry reads; see bpf/user_probes. */
unsigned int shape_argument_cnt(enum memleak_shape shape);

/* Whether the result of a call matters: everything but a free. */
bool shape_returns(enum memleak_shape shape);

#endif
