// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * sites BLOCKS STACKS [DEPTH]: allocates BLOCKS blocks from STACKS different call stacks. The
 * stacks consist of calls of left() and right(). The bits of a stack's number select the function
 * at each depth.
 *
 * sites rounds ROUNDS STACKS: in each round, allocates a block from each of STACKS new stacks and
 * frees all blocks of the round but the first. Finally allocates one more block from the second
 * stack of each round.
 */
#include "truth.h"

#define DEPTH 13

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

/* Allocates blocks from each of the stacks in turn. */
static void all_held(size_t blocks, size_t stacks, int depth)
{
	ready();
	for (size_t i = 0; i < blocks; i++)
		must(left(i % stacks, depth) != NULL, "malloc");
	leaks("leaf", blocks, blocks * 32);
	ready();
}

static void in_rounds(size_t rounds, size_t stacks)
{
	must(rounds * stacks <= 1 << DEPTH, "too many stacks");
	ready();
	for (size_t i = 0; i < rounds; i++) {
		for (size_t j = 0; j < stacks; j++) {
			void *block = left(i * stacks + j, DEPTH);

			must(block != NULL, "malloc");
			if (j)
				free(block);
		}
		leaks("leaf", i + 1, (i + 1) * 32);
		ready();
	}
	for (size_t i = 0; i < rounds; i++)
		must(left(i * stacks + 1, DEPTH) != NULL, "malloc");
	leaks("leaf", 2 * rounds, 2 * rounds * 32);
	ready();
}

static size_t number(const char *word)
{
	return strtoul(word, NULL, 10);
}

int main(int argc, char **argv)
{
	must(argc >= 3, "usage");
	if (argc == 4 && !strcmp(argv[1], "rounds"))
		in_rounds(number(argv[2]), number(argv[3]));
	else
		all_held(number(argv[1]), number(argv[2]), argc > 3 ? atoi(argv[3]) : DEPTH);
	return 0;
}
