/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds stacks by their hash, in the kernel's table or among the stacks evicted from that table.
 * Eviction is needed because a program may allocate with many different stacks, of which only a few
 * have outstanding blocks at any one time. Does not know what frames are.
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
	uint32_t depth; /* maximum number of frames of a stack */
	uint64_t size;  /* maximum number of stacks in the kernel's table */
	volatile struct memleak_stack_watch
		*watch; /* memory shared with the BPF programs; NULL if there is no eviction */
	struct hash_map evicted; /* values are struct memleak_stack */
	size_t evicted_bytes;
};

/*
 * Initialises the table; called after load and before tracking begins. Returns 0 or a negative
 * errno.
 */
int stack_table_init(struct stack_table *ret, const struct bpf_object *object, uint32_t depth,
		     volatile struct memleak_stack_watch *watch);
void stack_table_deinit(struct stack_table *table);

/*
 * Copies a stack to ret, which must have room for the maximum number of frames (`depth`). Returns
 * false if the stack is unknown.
 */
bool stack_table_find(const struct stack_table *table, uint64_t id, struct memleak_stack *ret);

/*
 * Replaces a stack: keeps the new stack in `evicted`, and deletes the old stack from the kernel's
 * table.
 */
void stack_table_replace(struct stack_table *table, uint64_t id, const struct memleak_stack *stack);

/*
 * Evicts stacks without outstanding blocks from the kernel's table when it is filling up. The sites
 * of evicted stacks stay, so that allocations with these stacks are counted as before, even
 * allocations that are in progress during the eviction. Returns 0 or a negative errno.
 */
int stack_table_evict(struct stack_table *table, struct recent_blocks *recent);

#endif
