// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moving SECONDS [both]: allocates 64 blocks. In the next phase, reallocates them again and again to
 * random sizes, so that they move. Between these calls, allocates another block at the same site,
 * reallocates it, and frees it. At the same time, another thread allocates and frees many blocks.
 * So memleak must move records in its table of blocks all the time. both: all blocks also move
 * between two sites.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "truth.h"

#define MOVED 64
#define OTHERS 100000
#define MOST 10000

static void *moved[MOVED + 1], *others[OTHERS];
static _Atomic int over;

OWN_FRAME static void move(void **block, size_t size)
{
	*block = keep(realloc(*block, size));
}

OWN_FRAME static void move_elsewhere(void **block, size_t size)
{
	*block = keep(realloc(*block, size));
}

static void *come_and_go(void *arg)
{
	for (size_t i = 0; !over; i = (i + 1) % OTHERS) {
		free(others[i]);
		others[i] = keep(malloc(16 + i % 64));
	}
	return arg;
}

int main(int argc, char **argv)
{
	bool both = argc == 3 && !strcmp(argv[2], "both");
	void (*mover)(void **block, size_t size) = move;
	pthread_t thread;
	unsigned dice = 1;
	time_t end;

	must(argc == 2 + both, "moving SECONDS [both]");
	ready();
	for (size_t i = 0; i < MOVED; i++)
		move(&moved[i], 1);
	ready();
	end = time(NULL) + atoi(argv[1]);
	must(!pthread_create(&thread, NULL, come_and_go, NULL), "pthread_create");
	while (time(NULL) < end) {
		/* Two of three calls are for the other block, moved[MOVED]. */
		for (size_t i = 0; i < 3 * MOVED; i++) {
			dice = dice * 1103515245 + 12345;
			mover(&moved[i % 3 ? MOVED : i / 3], 1 + (dice >> 16) % MOST);
			if (i % 3 == 2) {
				free(moved[MOVED]);
				moved[MOVED] = NULL;
			}
		}
		if (both)
			mover = mover == move ? move_elsewhere : move;
	}
	over = 1;
	pthread_join(thread, NULL);
	ready();
	return 0;
}
