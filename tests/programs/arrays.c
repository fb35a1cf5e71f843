// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arrays SECONDS: reallocates several arrays ten times a second, each array from one place. One
 * array keeps its size, all others grow.
 */
#include <time.h>

#include "truth.h"

#define TICK_NS 100000000
#define PER_SECOND (1000000000 / TICK_NS)

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

int main(int argc, char **argv)
{
	unsigned int end = (unsigned int)atoi(argv[1]) * PER_SECOND;
	struct timespec at;

	must(argc == 2, "arrays SECONDS");
	ready();
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (unsigned int now = 0; now < end; now++) {
		at.tv_nsec += TICK_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		grow_small(400 * (now + 1));
		grow_large((1 << 20) + 750 * now);
		stay(40000 - now % 7);
	}
	ready();
	return 0;
}
