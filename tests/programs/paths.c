// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * paths ROUNDS PATHS: in each round, blocks from so many new call stacks, of which all but the
 * first are freed. Then one more block from the second stack of each round.
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

int main(int argc, char **argv)
{
	size_t rounds, paths;

	must(argc == 3, "usage");
	rounds = strtoul(argv[1], NULL, 10);
	paths = strtoul(argv[2], NULL, 10);
	must(rounds * paths <= 1 << DEPTH, "too many paths");
	ready();
	for (size_t i = 0; i < rounds; i++) {
		for (size_t j = 0; j < paths; j++) {
			void *block = left(i * paths + j, DEPTH);

			must(block != NULL, "malloc");
			if (j)
				free(block);
		}
		leaks("leaf", i + 1, (i + 1) * 32);
		ready();
	}
	for (size_t i = 0; i < rounds; i++)
		must(left(i * paths + 1, DEPTH) != NULL, "malloc");
	leaks("leaf", 2 * rounds, 2 * rounds * 32);
	ready();
	return 0;
}
