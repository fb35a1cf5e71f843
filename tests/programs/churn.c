// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * churn [PAIRS]: allocates 20,000 blocks. Then repeats, until a byte is read from stdin: frees the
 * oldest block and allocates a new one. PAIRS limits the rate to that number of free/malloc pairs
 * per millisecond. Prints at the end the number of pairs, their time in nanoseconds, and the
 * highest number of pairs in any millisecond.
 */
#include <poll.h>
#include <time.h>

#include "truth.h"

#define BLOCKS 20000
#define SIZE 64
#define TURN 50 /* number of free/malloc pairs between two looks at the clock */

static void *ring[BLOCKS];

OWN_FRAME static void *churn_block(void)
{
	return keep(malloc(SIZE)); /* LEAK */
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/*
 * Adds `pairs` to the number of pairs in the current millisecond. Returns the highest number so
 * far.
 */
static uint64_t count_pairs(uint64_t pairs)
{
	static uint64_t ms, of_ms, most;
	uint64_t now = now_ns() / 1000000;

	of_ms = now == ms ? of_ms + pairs : pairs;
	ms = now;
	if (of_ms > most)
		most = of_ms;
	return most;
}

static int byte_waits(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	uint64_t per_ms = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, pairs = 0, most = 0, start;

	ready();
	for (int i = 0; i < BLOCKS; i++)
		ring[i] = churn_block();
	leaks("churn_block", BLOCKS, BLOCKS * SIZE);
	ready();

	start = now_ns();
	while (pairs < BLOCKS || !byte_waits()) {
		for (int i = 0; i < TURN; i++, pairs++) {
			free(ring[pairs % BLOCKS]);
			ring[pairs % BLOCKS] = churn_block();
		}
		most = count_pairs(TURN);
		while (per_ms && pairs * 1000000 > (now_ns() - start) * per_ms && !byte_waits())
			continue;
	}
	say("pairs %llu %llu %llu\n", (unsigned long long)pairs,
	    (unsigned long long)(now_ns() - start), (unsigned long long)most);
	leaks("churn_block", BLOCKS, BLOCKS * SIZE);
	wait_byte();
	ready();
	return 0;
}
