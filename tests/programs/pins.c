// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills pages with a small block and a large one each, then frees all large blocks, so that small
 * blocks pin nearly all of the free memory: three quarters of it those of pin_most(), the rest those
 * of pin_some(). Blocks of older_pins() pin other pages, from before the start signal.
 * Prints `pinned BYTES`: the free memory in its heap.
 */
#include <malloc.h>
#include <stdbool.h>

#include "truth.h"

#define PAGES 8000
#define SMALL 64
#define LARGE 4000 /* with both headers, both blocks take a page */

static void *large[PAGES];

static void *take_large(void)
{
	void *block = malloc(LARGE);

	must(block != NULL, "malloc");
	return memset(block, 1, LARGE);
}

OWN_FRAME static void pin_most(void)
{
	keep(malloc(SMALL)); /* LEAK */
}

OWN_FRAME static void pin_some(void)
{
	keep(malloc(SMALL)); /* LEAK */
}

OWN_FRAME static void older_pins(void)
{
	keep(malloc(SMALL));
}

static void fill(int first, int end, bool older)
{
	for (int i = first; i < end; i++) {
		large[i] = take_large();
		if (older)
			older_pins();
		else if (i % 4)
			pin_most();
		else
			pin_some();
	}
}

int main(void)
{
	fill(0, PAGES / 5, true);
	ready();
	fill(PAGES / 5, PAGES, false);
	for (int i = 0; i < PAGES; i++)
		free(large[i]);
	say("pinned %zu\n", mallinfo2().fordblks);
	ready();
	ready();
	return 0;
}
