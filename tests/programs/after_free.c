// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * after_free NAME: runs the case NAME. The cases map and unmap memory in functions whose stack
 * frames have an unwritten part, which still contains the return address of an earlier free().
 * memleak must not attribute these mappings to free().
 */
#include <pthread.h>
#include <sys/mman.h>

#include "truth.h"

#define TURNS 10
#define BYTES (1 << 20)
#define THREADS 128
#define ARENAS 8
#define RESERVED (128 << 20)
#define STACK_BYTES (256 << 10)

static pthread_barrier_t barrier;

OWN_FRAME static void free_one(void)
{
	void *p = keep(malloc(100));

	free(p);
	keep(NULL);
}

OWN_FRAME static void free_deeper(void)
{
	char room[200];

	keep(room);
	free_one();
	keep(room);
}

OWN_FRAME static void *map(size_t size)
{
	return keep(mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); /* LEAK */
}

/* Maps memory. The frame has an array that is never written, so stale data stays in it. */
OWN_FRAME static void map_above_hole(void)
{
	char hole[8192];

	keep(hole);
	must(map(BYTES) != MAP_FAILED, "mmap");
	keep(hole);
}

static void maps_after_free(void)
{
	for (int i = 0; i < TURNS; i++) {
		free_deeper();
		map_above_hole();
	}
	maps("map", TURNS, TURNS * BYTES, "mmap");
}

OWN_FRAME static void unmap_above_hole(void *p)
{
	char hole[8192];

	keep(hole);
	must(!munmap(p, BYTES), "munmap");
	keep(hole);
}

static void unmaps_after_free(void)
{
	for (int i = 0; i < TURNS; i++) {
		void *p = map(BYTES);

		must(p != MAP_FAILED, "mmap");
		free_deeper();
		unmap_above_hole(p);
	}
	marker();
}

/*
 * Calls a function. free() and map_instead() are both called here, so they return to the same
 * address.
 */
OWN_FRAME static void call(void (*function)(void *), void *arg)
{
	function(arg);
	keep(arg);
}

static void map_instead(void *arg)
{
	char room[64];

	keep(room);
	must(map(BYTES) != MAP_FAILED && !arg, "mmap");
	keep(room);
}

static void maps_from_one_place(void)
{
	for (int i = 0; i < TURNS; i++) {
		call(free, keep(malloc(100)));
		call(map_instead, NULL);
	}
	maps("map", TURNS, TURNS * BYTES, "mmap");
}

static void *idle(void *arg)
{
	pthread_barrier_wait(&barrier);
	return arg;
}

OWN_FRAME static void start(const pthread_attr_t *attributes)
{
	char hole[8192];
	pthread_t thread;

	keep(hole);
	must(!pthread_create(&thread, attributes, idle, NULL), "pthread_create");
	keep(hole);
}

/* Creates a thread after each free(). libpthread maps a stack for each thread. */
static void threads_after_free(void)
{
	pthread_attr_t attributes;

	must(!pthread_barrier_init(&barrier, NULL, THREADS + 1), "barrier");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < THREADS; i++) {
		free_deeper();
		start(&attributes);
	}
	say("stacks %d\n", THREADS);
}

OWN_FRAME static void *reserve(size_t size)
{
	return keep(mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); /* LEAK */
}

/*
 * Main function of a thread that first calls free(), which makes glibc reserve an arena for the
 * thread.
 */
static void *begin_by_free(void *arg)
{
	free(arg);
	return idle(NULL);
}

static void *begin_by_malloc(void *arg)
{
	free(keep(malloc(200)));
	return begin_by_free(arg);
}

static void run_arenas(void *(*begin)(void *))
{
	pthread_t threads[ARENAS];
	void *given[ARENAS];

	must(!pthread_barrier_init(&barrier, NULL, ARENAS + 1), "barrier");
	for (int i = 0; i < ARENAS; i++) {
		given[i] = keep(malloc(100));
		must(!pthread_create(&threads[i], NULL, begin, given[i]), "pthread_create");
	}
	pthread_barrier_wait(&barrier);
	must(reserve(RESERVED) != MAP_FAILED, "mmap");
	maps("reserve", 1, RESERVED, "reserve");
}

static void arenas_by_free(void)
{
	run_arenas(begin_by_free);
}

static void arenas_by_malloc(void)
{
	run_arenas(begin_by_malloc);
}

static const struct {
	const char *name;
	void (*run)(void);
} things[] = {
	{"maps", maps_after_free},
	{"unmaps", unmaps_after_free},
	{"one_place", maps_from_one_place},
	{"threads", threads_after_free},
	{"arenas_by_free", arenas_by_free},
	{"arenas_by_malloc", arenas_by_malloc},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(things); i++)
		if (!strcmp(argv[1], things[i].name)) {
			things[i].run();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
