/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory allocated in pieces that are all freed together. A zeroed arena is valid and empty. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_piece *pieces;
};

/* Returns a new uninitialised piece, aligned for any type; NULL if out of memory. */
void *arena_take(struct arena *arena, size_t len);
/* Returns a new piece with a copy of `len` bytes; NULL if out of memory. */
void *arena_copy(struct arena *arena, const void *bytes, size_t len);
/* Moves all pieces of the arena `from` into `arena`. Their addresses do not change. */
void arena_join(struct arena *arena, struct arena *from);
void arena_deinit(struct arena *arena);

#endif
