// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sites BLOCKS STACKS [DEPTH]: blocks from many different call stacks. The way down is a chain
 * of two functions, chosen by the bits of the stack's number.
 */
#include "truth.h"

OWN_FRAME static void *leaf(void)
{
	return keep(malloc(32)); /* LEAK */
}

static void *step(size_t bits, int depth);

OWN_FRAME static void *left(size_t bits, int depth)
{
	return keep(step(bits, depth));
}

OWN_FRAME static void *right(size_t bits, int depth)
{
	return keep(step(bits, depth));
}

static void *step(size_t bits, int depth)
{
	if (!depth)
		return leaf();
	return bits & 1 ? right(bits >> 1, depth - 1) : left(bits >> 1, depth - 1);
}

int main(int argc, char **argv)
{
	size_t blocks, stacks;
	int depth;

	must(argc >= 3, "usage");
	blocks = strtoul(argv[1], NULL, 10);
	stacks = strtoul(argv[2], NULL, 10);
	depth = argc > 3 ? atoi(argv[3]) : 13;
	ready();
	for (size_t i = 0; i < blocks; i++)
		must(left(i % stacks, depth) != NULL, "malloc");
	leaks("leaf", blocks, blocks * 32);
	ready();
	return 0;
}
