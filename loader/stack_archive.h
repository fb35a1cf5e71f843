/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks that had to leave the kernel's table to make room, by their hash. Knows no tables. */
#ifndef STACK_ARCHIVE_H
#define STACK_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/memleak.h"

struct archived_stack {
	uint64_t id;
	struct memleak_stack stack; /* its frames follow */
};

struct stack_archive {
	struct archived_stack **slots; /* open addressing, a power of two */
	size_t slot_cnt;
	size_t cnt;
	size_t bytes;
};

void stack_archive_deinit(struct stack_archive *archive);

/* Keeps a copy, if there is none. 0 or -ENOMEM. */
int stack_archive_add(struct stack_archive *archive, uint64_t id,
		      const struct memleak_stack *stack);

/* NULL: it never left the table. */
const struct memleak_stack *stack_archive_find(const struct stack_archive *archive, uint64_t id);

#endif
