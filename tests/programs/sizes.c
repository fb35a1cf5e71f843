// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Leaks blocks of several sizes, to test filters and sorting: one function leaks the most bytes,
 * another one the most blocks, and a third one grows most. In the second phase leak_medium()
 * allocates more; in the third phase everything is freed.
 */
#include "truth.h"

#define TINY 200
#define MEDIUM 20
#define MORE 50
#define LARGE 2

static void *blocks[TINY + MEDIUM + MORE + LARGE + 3];
static size_t held;

OWN_FRAME static void leak_nothing_big(void)
{
	blocks[held++] = keep(malloc(0)); /* LEAK */
}

OWN_FRAME static void leak_tiny(void)
{
	blocks[held++] = keep(malloc(8)); /* LEAK */
}

OWN_FRAME static void leak_medium(void)
{
	blocks[held++] = keep(malloc(1000)); /* LEAK */
}

OWN_FRAME static void leak_large(void)
{
	blocks[held++] = keep(malloc(100000)); /* LEAK */
}

OWN_FRAME static void times(int count, void (*leak)(void))
{
	while (count--)
		leak();
}

int main(void)
{
	ready();
	times(3, leak_nothing_big);
	times(TINY, leak_tiny);
	times(MEDIUM, leak_medium);
	times(LARGE, leak_large);
	leaks("leak_nothing_big", 3, 0);
	leaks("leak_tiny", TINY, TINY * 8);
	leaks("leak_medium", MEDIUM, MEDIUM * 1000);
	leaks("leak_large", LARGE, LARGE * 100000);
	ready();
	times(MORE, leak_medium);
	leaks("leak_nothing_big", 3, 0);
	leaks("leak_tiny", TINY, TINY * 8);
	leaks("leak_medium", MEDIUM + MORE, (MEDIUM + MORE) * 1000);
	leaks("leak_large", LARGE, LARGE * 100000);
	ready();
	while (held)
		free(blocks[--held]);
	ready();
	return 0;
}
