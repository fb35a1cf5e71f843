/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interposed allocator functions, and the functions to which they forward calls. */
#ifndef AGENT_ALLOCATORS_H
#define AGENT_ALLOCATORS_H

#include <stdbool.h>
#include <stdint.h>

/* Interposed functions that are not allocators. */
enum other_function {
	OTHER_MMAP,
	OTHER_MUNMAP,
	OTHER_MREMAP,
	OTHER_DLCLOSE,
	OTHER_MLOCKALL,
	OTHER_CNT
};

typedef void any_function(void);

/* Looks up the next functions: those that the program would call without the agent. */
void allocators_find(void);

/*
 * True if another malloc() comes before the agent's in symbol order, so that the program calls the
 * other one.
 */
bool allocators_are_bypassed(void);

struct account;

/*
 * True if the address `caller` is in the same file as malloc(). If the allocator calls mmap() for
 * its own memory, the mapping is not recorded.
 */
bool allocators_map(struct account *account, uint64_t caller);

/*
 * Returns the definition of a non-allocator function that the program would call without the agent;
 * NULL if it is not found yet. Looks up dlclose() and mlockall() on demand.
 */
any_function *allocators_other(enum other_function which);

#endif
