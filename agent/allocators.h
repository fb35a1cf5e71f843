/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions whose place the agent takes, and those that they call. */
#ifndef AGENT_ALLOCATORS_H
#define AGENT_ALLOCATORS_H

#include <stdbool.h>
#include <stdint.h>

/* Functions that are no allocator's, and stand for the agent's own of those names. */
enum other_function {
	OTHER_MMAP,
	OTHER_MUNMAP,
	OTHER_MREMAP,
	OTHER_DLCLOSE,
	OTHER_MLOCKALL,
	OTHER_CNT
};

typedef void any_function(void);

/* Finds the functions that the program would call without the agent. */
void allocators_find(void);

/* Whether the program calls another malloc than the agent's: one of its own, which comes before. */
bool allocators_are_bypassed(void);

struct account;

/* Whether a caller of mmap is the allocator, whose own memory is none of the program's. */
bool allocators_map(struct account *account, uint64_t caller);

/* NULL: it has not been found yet. Those of dlclose and mlockall are looked for. */
any_function *allocators_other(enum other_function which);

#endif
