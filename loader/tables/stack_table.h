/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stacks that the programs have stored, by their hash: in the kernel's table, or here once they
 * had to make room there. A program may allocate along many more paths than have something
 * outstanding at a time. Knows nothing of what the frames are.
 */
#ifndef LOADER_TABLES_STACK_TABLE_H
#define LOADER_TABLES_STACK_TABLE_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "bpf/memleak.h"
#include "loader/tables/recent_blocks.h"

struct stack_table {
	int fd;
	int sites_fd;
	uint32_t depth; /* frames of a stack at most */
	uint64_t size;  /* stacks that the kernel's table has room for */
	volatile struct memleak_stack_watch
		*watch;          /* in the programs' memory; NULL: there is none */
	struct hash_map evicted; /* struct memleak_stack */
	size_t evicted_bytes;
};

/* After load, before tracking begins. 0 or a negative errno. */
int stack_table_init(struct stack_table *ret, const struct bpf_object *object, uint32_t depth,
		     volatile struct memleak_stack_watch *watch);
void stack_table_deinit(struct stack_table *table);

/* Copies a stack; ret has room for depth frames. False: it is not known. */
bool stack_table_find(const struct stack_table *table, uint64_t id, struct memleak_stack *ret);

/* A stack is this one from now on: it is kept here, and taken out of the kernel's table. */
void stack_table_replace(struct stack_table *table, uint64_t id, const struct memleak_stack *stack);

/*
 * Takes stacks of which nothing is outstanding out of the kernel's table, once that is getting
 * full. Their sites stay: a path that allocates again goes on as before, and an allocation that is
 * under way meanwhile loses nothing. 0 or a negative errno.
 */
int stack_table_evict(struct stack_table *table, struct recent_blocks *recent);

#endif
