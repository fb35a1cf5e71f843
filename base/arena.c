// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps each piece in its own malloc() block, so that memory checkers detect overruns of a piece.
 */
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

struct arena_piece {
	struct arena_piece *next;
	max_align_t bytes[];
};

void *arena_take(struct arena *arena, size_t len)
{
	struct arena_piece *piece;
	size_t bytes;

	if (__builtin_add_overflow(len, sizeof(*piece), &bytes))
		return NULL;
	piece = malloc(bytes);
	if (!piece)
		return NULL;
	piece->next = arena->pieces;
	arena->pieces = piece;
	return piece->bytes;
}

void *arena_copy(struct arena *arena, const void *bytes, size_t len)
{
	void *copy = arena_take(arena, len);

	if (copy && len)
		memcpy(copy, bytes, len);
	return copy;
}

void arena_join(struct arena *arena, struct arena *from)
{
	struct arena_piece **end = &from->pieces;

	while (*end)
		end = &(*end)->next;
	*end = arena->pieces;
	arena->pieces = from->pieces;
	from->pieces = NULL;
}

void arena_deinit(struct arena *arena)
{
	struct arena_piece *next;

	for (struct arena_piece *piece = arena->pieces; piece; piece = next) {
		next = piece->next;
		free(piece);
	}
	arena->pieces = NULL;
}
