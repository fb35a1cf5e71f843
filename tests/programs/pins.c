// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills each page with four small blocks and a large one. Then frees all large blocks, so that the
 * small blocks pin nearly all of the free memory. A fifth of the pages is filled before memleak is
 * attached, with small blocks of older_pins(). Each of the other pages has three small blocks of
 * pin_most() and one of pin_some(). Prints `pinned BYTES`: the free memory in the heap.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "truth.h"

#define PAGES 8000
#define PAGE 4096
#define SMALL 64
#define LARGE 3768 /* one large and four small blocks, with their headers, fill a page */

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

/*
 * Makes the next block begin in the middle of a page, so that all page boundaries lie in large
 * blocks.
 */
static void leave_boundary(void)
{
	uintptr_t at = (uintptr_t)keep(malloc(SMALL)) + SMALL;

	keep(malloc((PAGE + PAGE / 2 - at % PAGE) % PAGE + SMALL));
}

static void fill(int first, int end, bool older)
{
	for (int i = first; i < end; i++) {
		for (int j = 0; j < 4; j++) {
			if (older)
				older_pins();
			else if (j)
				pin_most();
			else
				pin_some();
		}
		large[i] = take_large();
	}
}

int main(void)
{
	leave_boundary();
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
