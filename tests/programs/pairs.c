// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pairs COUNT: two functions allocate alternately, COUNT blocks each, so that every second call
 * comes from the same function. pairs mapped: one function allocates and another one maps memory,
 * alternately, until a byte is read from stdin.
 */
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "truth.h"

#define PAGE 4096
#define PAIRS_MAX 1000000
/* Number of mappings after which `pairs mapped` pauses, so that memleak loses no event. */
#define AT_ONCE 32
#define PAUSE_US 500

OWN_FRAME static void odd_alloc(void)
{
	keep(malloc(16)); /* LEAK */
}

OWN_FRAME static void even_alloc(void)
{
	keep(malloc(16)); /* LEAK */
}

OWN_FRAME static void pages_map(void *at)
{
	must(keep(mmap(at, PAGE, PROT_READ | PROT_WRITE, /* LEAK */
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)) == at,
	     "mmap");
}

static int byte_waits(void)
{
	struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&in, 1, 0) > 0;
}

/*
 * Runs `pairs mapped`. Maps at rising addresses, so that memleak's sorted list of mappings grows
 * only at its end.
 */
static int map_by_turns(void)
{
	char *at =
		mmap(NULL, (size_t)PAIRS_MAX * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t count = 0;

	must(at != MAP_FAILED, "room");
	ready();
	for (; !byte_waits(); count++) {
		must(count < PAIRS_MAX, "end in time");
		odd_alloc();
		pages_map(at + count * PAGE);
		if (count % AT_ONCE == 0)
			usleep(PAUSE_US);
	}
	leaks("odd_alloc", count, count * 16);
	maps("pages_map", count, count * PAGE, "mmap");
	wait_byte();
	ready();
	return 0;
}

int main(int argc, char **argv)
{
	size_t count;

	must(argc == 2, "usage");
	if (!strcmp(argv[1], "mapped"))
		return map_by_turns();
	count = strtoul(argv[1], NULL, 10);
	ready();
	for (size_t i = 0; i < count; i++) {
		odd_alloc();
		even_alloc();
	}
	leaks("odd_alloc", count, count * 16);
	leaks("even_alloc", count, count * 16);
	ready();
	return 0;
}
