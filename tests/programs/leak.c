// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A simple leak. Phases: 1. nothing is allocated; 2. blocks leak; 3. as many blocks leak again
 * (growth); 4. all blocks are freed; 5. one more block is allocated; then the program exits with
 * code 7. Blocks from before the first phase must not be reported.
 */
#include "truth.h"

#define SMALL 16
#define BIG (1024 * 1024)
#define ROUND 5

static void *small[2 * ROUND], *big[2 * ROUND], *early[3];

OWN_FRAME static void *leak_small(void)
{
	return keep(malloc(SMALL)); /* LEAK */
}

OWN_FRAME static void *leak_big(void)
{
	return keep(malloc(BIG)); /* LEAK */
}

OWN_FRAME static void round_of_leaks(int from)
{
	for (int i = from; i < from + ROUND; i++) {
		small[i] = leak_small();
		big[i] = leak_big();
	}
}

static void say_leaks(size_t count)
{
	leaks("leak_small", count, count * SMALL);
	leaks("leak_big", count, count * BIG);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(early); i++)
		early[i] = keep(malloc(100));
	ready();

	free(early[0]);
	/* A loop, so that both rounds have the same stack. */
	for (volatile int done = 0; done < 2 * ROUND; done += ROUND) {
		round_of_leaks(done);
		say_leaks(done + ROUND);
		for (int i = 0; i < done + ROUND; i++)
			say("block %p %d\nblock %p %d\n", small[i], SMALL, big[i], BIG);
		ready();
	}

	for (int i = 0; i < 2 * ROUND; i++) {
		free(small[i]);
		free(big[i]);
	}
	ready();

	small[0] = leak_small();
	leaks("leak_small", 1, SMALL);
	ready();
	return 7;
}
