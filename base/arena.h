/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of memory that are freed together, and not before. Zero is a valid empty arena. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_piece *pieces;
};

/* A new piece, fit for any type; NULL: no memory. It holds no particular value. */
void *arena_take(struct arena *arena, size_t len);
/* A new piece with these bytes; NULL: no memory. */
void *arena_copy(struct arena *arena, const void *bytes, size_t len);
/* Moves the pieces of another arena into this one. They stay where they are in memory. */
void arena_join(struct arena *arena, struct arena *from);
void arena_deinit(struct arena *arena);

#endif
