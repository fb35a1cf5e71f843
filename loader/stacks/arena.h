/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An arena: an array of pages in the kernel, in which the programs find unwind tables. */
#ifndef LOADER_STACKS_ARENA_H
#define LOADER_STACKS_ARENA_H

#include <stddef.h>

#include "unwinder/server/table.h"

#define UNWIND_PAGE_BYTES (UNWIND_PAGE_WORDS * sizeof(uint32_t))

/* The newest arena, which may have room for more tables. */
struct unwind_arena {
	int fd;
	uint32_t number;
	uint32_t page_cnt; /* 0: there is none */
	uint32_t used;
};

/* With a number and a size in pages, as arrays do not grow. The fd is the caller's. */
int unwind_arena_init(uint32_t number, uint32_t page_cnt, struct unwind_arena *ret);

/* Writes a table behind those that are there; it must fit. 0 or a negative errno. */
int unwind_arena_add(struct unwind_arena *arena, const struct unwind_table *table);

/* Whether the arena of that fd has the words of the table from that page on. */
bool unwind_arena_holds(int fd, uint32_t page, const struct unwind_table *table);

#endif
