/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arenas: kernel arrays whose elements are pages of unwind tables, which BPF programs read. */
#ifndef LOADER_STACKS_ARENA_H
#define LOADER_STACKS_ARENA_H

#include <stddef.h>

#include "unwinder/server/table.h"

#define UNWIND_PAGE_BYTES (UNWIND_PAGE_WORDS * sizeof(uint32_t))

/* The newest arena, which may have room for more tables. */
struct unwind_arena {
	int fd;
	uint32_t number;
	uint32_t page_cnt; /* size of the arena in pages; 0 if there is no arena */
	uint32_t used;
};

/*
 * Creates an arena of page_cnt pages; an arena cannot grow. number: its index in the map of arenas.
 * The caller closes ret->fd. Returns 0 or a negative errno.
 */
int unwind_arena_init(uint32_t number, uint32_t page_cnt, struct unwind_arena *ret);

/* Appends a table; the arena must have room for it. Returns 0 or a negative errno. */
int unwind_arena_add(struct unwind_arena *arena, const struct unwind_table *table);

/* True if the pages of the arena `fd`, from index `page` on, equal the pages of the table. */
bool unwind_arena_holds(int fd, uint32_t page, const struct unwind_table *table);

#endif
