// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moving SECONDS: reallocates 64 blocks again and again to random sizes, so that they move. Between
 * these calls, allocates another block at the same site, reallocates it, and frees it. At the same
 * time, another thread allocates and frees many blocks. So memleak must move records in its table
 * of blocks all the time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "truth.h"

#define MOVED 64
#define OTHERS 100000
#define MOST 10000

static void *moved[MOVED + 1], *others[OTHERS];
static _Atomic int over;

/* Two of three calls are for the other block, moved[MOVED]. */
OWN_FRAME static void move(size_t i, size_t size)
{
	size_t at = i % 3 ? MOVED : i / 3;

	moved[at] = keep(realloc(moved[at], size));
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
	pthread_t thread;
	unsigned dice = 1;
	time_t end;

	must(argc == 2, "moving SECONDS");
	ready();
	end = time(NULL) + atoi(argv[1]);
	must(!pthread_create(&thread, NULL, come_and_go, NULL), "pthread_create");
	while (time(NULL) < end)
		for (size_t i = 0; i < 3 * MOVED; i++) {
			dice = dice * 1103515245 + 12345;
			move(i, 1 + (dice >> 16) % MOST);
			if (i % 3 == 2) {
				free(moved[MOVED]);
				moved[MOVED] = NULL;
			}
		}
	over = 1;
	pthread_join(thread, NULL);
	ready();
	return 0;
}
