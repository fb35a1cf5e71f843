// SPDX-License-Identifier: GPL-2.0-or-later
// Healthy: each request allocates an arena of a few pieces, and at its end frees all pieces.
// expect: nothing
#include "server.h"

struct piece {
	struct piece *next;
	char memory[2000];
};

static struct piece *arena;

static void extend_arena(void)
{
	struct piece *piece = malloc(sizeof(*piece));

	piece->next = arena;
	arena = piece;
}

static void reset_arena(void)
{
	while (arena) {
		struct piece *next = arena->next;

		free(arena);
		arena = next;
	}
}

void handle_request(unsigned int number)
{
	for (unsigned int i = random_below(10); i; i--)
		extend_arena();
	reset_arena();
}
