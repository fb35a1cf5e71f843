// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reallocates 200 blocks again and again, all at one call site, so that the blocks move.
 */
#include <poll.h>

#include "truth.h"

#define BLOCKS 200
#define SIZES 5

static void *blocks[BLOCKS];

OWN_FRAME static void *move(void *block, size_t size)
{
	return keep(realloc(block, size)); /* LEAK */
}

static int byte_waits(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in, 1, 0) > 0;
}

static size_t next_size(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (size_t)64 << (seed >> 33) % SIZES;
}

static void move_all(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		blocks[i] = move(blocks[i], next_size());
}

int main(void)
{
	ready();
	move_all();
	ready();
	while (!byte_waits())
		move_all();
	return 0;
}
