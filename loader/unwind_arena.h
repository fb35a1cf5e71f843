/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arrays of pages that the programs find unwind tables in. */
#ifndef UNWIND_ARENA_H
#define UNWIND_ARENA_H

#include <stddef.h>

#include "unwinder/table.h"

#define UNWIND_PAGE_BYTES (UNWIND_PAGE_WORDS * sizeof(uint32_t))

/*
 * Makes an arena, the one of that number, of some tables, one behind the other, which have
 * page_cnt pages in all. Arrays do not grow, so each batch of tables has one of its own. 0 or a
 * negative errno, when there is no such arena.
 */
int unwind_arena_fill(int arenas_fd, uint32_t number, const struct unwind_table *tables,
		      size_t table_cnt, uint32_t page_cnt);

/* Whether the arena has, from that page on, the words of the table. */
bool unwind_arena_holds(int arenas_fd, uint32_t number, uint32_t page,
			const struct unwind_table *table);

#endif
