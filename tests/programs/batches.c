// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * batches STEPS: makes one step for each letter, and waits after each. a: allocates a batch of
 * blocks of different sizes, all at one call site. g: doubles the size of all blocks by realloc().
 * f: frees all blocks. u: allocates and frees many blocks.
 */
#include "truth.h"

#define BATCH 20000
#define BLOCKS_MAX (8 * BATCH)
#define USED 100000

static void *blocks[BLOCKS_MAX];
static size_t sizes[BLOCKS_MAX];
static size_t cnt;
static size_t grown; /* number of blocks whose latest call was realloc() */

OWN_FRAME static void *batch_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

OWN_FRAME static void *batch_grow(void *block, size_t size)
{
	return keep(realloc(block, size)); /* LEAK */
}

static void add_batch(void)
{
	for (size_t i = 0; i < BATCH; i++, cnt++) {
		sizes[cnt] = 16 + i * 37 % 2000;
		blocks[cnt] = batch_alloc(sizes[cnt]);
	}
}

static void grow_all(void)
{
	for (size_t i = 0; i < cnt; i++)
		blocks[i] = batch_grow(blocks[i], sizes[i] *= 2);
	grown = cnt;
}

static void free_all(void)
{
	for (size_t i = 0; i < cnt; i++)
		free(blocks[i]);
	cnt = grown = 0;
}

static void use_many(void)
{
	for (size_t i = 0; i < USED; i++)
		free(batch_alloc(1000));
}

static void tell(void)
{
	size_t bytes[2] = {0};

	for (size_t i = 0; i < cnt; i++)
		bytes[i >= grown] += sizes[i];
	if (grown)
		leaks("batch_grow", grown, bytes[0]);
	if (cnt > grown)
		leaks("batch_alloc", cnt - grown, bytes[1]);
	ready();
}

int main(int argc, char **argv)
{
	must(argc == 2 && strlen(argv[1]) <= BLOCKS_MAX / BATCH, "usage");
	ready();
	for (const char *step = argv[1]; *step; step++) {
		if (*step == 'a')
			add_batch();
		else if (*step == 'g')
			grow_all();
		else if (*step == 'f')
			free_all();
		else
			use_many();
		tell();
	}
	return 0;
}
