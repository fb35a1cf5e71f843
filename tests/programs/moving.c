// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * moving SECONDS: reallocates 64 blocks again and again to random sizes, so that they move. At the
 * same time, another thread allocates and frees many blocks. So memleak must move records in its
 * table of blocks all the time.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "truth.h"

#define MOVED 64
#define OTHERS 100000
#define MOST 10000

static void *moved[MOVED], *others[OTHERS];
static _Atomic int over;

OWN_FRAME static void move(size_t at, size_t size)
{
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
		for (size_t at = 0; at < MOVED; at++) {
			dice = dice * 1103515245 + 12345;
			move(at, 1 + (dice >> 16) % MOST);
		}
	over = 1;
	pthread_join(thread, NULL);
	ready();
	return 0;
}
