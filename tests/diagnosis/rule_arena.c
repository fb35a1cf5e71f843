// SPDX-License-Identifier: GPL-2.0-or-later
// Leaks: an arena, in which twelve functions allocate nodes, grows and is never freed.
// expect: arena_alloc
#include "server.h"

#define CHUNK 8192

struct chunk {
	struct chunk *next;
	size_t used;
	char memory[CHUNK - 2 * sizeof(size_t)];
};

static struct chunk *arena;

__attribute__((noinline)) static char *arena_alloc(size_t size)
{
	char *ret;

	if (!arena || arena->used + size > sizeof(arena->memory)) {
		struct chunk *chunk = malloc(sizeof(*chunk)); // LEAK

		must(chunk, "malloc");
		chunk->next = arena;
		chunk->used = 0;
		arena = chunk;
	}
	ret = arena->memory + arena->used;
	arena->used += size;
	return ret;
}

#define RULE(n)                                                                                    \
	__attribute__((noinline)) static void parse_##n(void)                                      \
	{                                                                                          \
		char *node = arena_alloc(200 + 31 * (n));                                          \
                                                                                                   \
		snprintf(node, 200, "rule %d", n);                                                 \
	}

RULE(1)
RULE(2)
RULE(3)
RULE(4)
RULE(5)
RULE(6)
RULE(7)
RULE(8)
RULE(9)
RULE(10)
RULE(11)
RULE(12)

void handle_request(unsigned int number)
{
	static void (*const rules[])(void) = {parse_1, parse_2,  parse_3,  parse_4,
					      parse_5, parse_6,  parse_7,  parse_8,
					      parse_9, parse_10, parse_11, parse_12};

	for (unsigned int i = 0; i < 4; i++)
		rules[random_below(12)]();
}
