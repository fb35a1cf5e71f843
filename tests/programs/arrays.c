// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arrays: reallocates three arrays ten times a second, each at a call site of its own, until a byte
 * is read from stdin. Two arrays grow; the size of the third varies by a few bytes only.
 */
#include <poll.h>

#include "truth.h"

#define TICK_MS 100

static char *small, *large, *level;

OWN_FRAME static void grow_small(size_t size)
{
	small = keep(realloc(small, size)); /* LEAK */
}

OWN_FRAME static void grow_large(size_t size)
{
	large = keep(realloc(large, size)); /* LEAK */
}

OWN_FRAME static void stay(size_t size)
{
	level = keep(realloc(level, size));
}

int main(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	ready();
	for (size_t now = 0; poll(&input, 1, TICK_MS) == 0; now++) {
		grow_small(400 * (now + 1));
		grow_large((1 << 20) + 750 * now);
		stay(40000 - now % 7);
	}
	return 0;
}
