// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls each allocator function with valid and with invalid arguments, so that every code path of
 * the function is taken. Does this three times, at different stack depths. memleak's results must
 * not depend on the exact instructions at which it probes the functions.
 */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#include "truth.h"

#define TIMES 3
#define BIG (3 << 20)
#define TOO_MUCH ((size_t)PTRDIFF_MAX)

static volatile size_t too_much = TOO_MUCH, half = SIZE_MAX / 2, zero, three = 3;

OWN_FRAME static void free_nothing(void)
{
	free(NULL);
	free(keep(calloc(3, 5)));
}

OWN_FRAME static void kept_mallocs(void)
{
	keep(malloc(zero));    /* LEAK */
	keep(malloc(100));     /* LEAK */
	keep(malloc(2000));    /* LEAK */
	keep(malloc(BIG + 1)); /* LEAK */
	free(keep(malloc(24)));
	free(keep(malloc(BIG)));
	must(keep(malloc(too_much)) == NULL, "malloc");
}

OWN_FRAME static void kept_callocs(void)
{
	keep(calloc(7, 11));   /* LEAK */
	keep(calloc(1, 5000)); /* LEAK */
	free(keep(calloc(1, BIG)));
	must(keep(calloc(half, 4)) == NULL, "calloc");
}

OWN_FRAME static void kept_reallocs(void)
{
	void *p = keep(realloc(NULL, 300)); /* LEAK */

	p = keep(realloc(p, 310));  /* LEAK */
	p = keep(realloc(p, 6000)); /* LEAK */
	must(keep(realloc(keep(p), too_much)) == NULL, "realloc");
	p = keep(realloc(p, BIG)); /* LEAK */
	keep(realloc(p, 20));      /* LEAK */
	free(keep(realloc(keep(malloc(40)), zero)));
	must(keep(reallocarray(NULL, half, 4)) == NULL, "reallocarray");
	keep(reallocarray(keep(malloc(10)), 9, 9)); /* LEAK */
}

OWN_FRAME static void kept_aligned(void)
{
	void *p = NULL;

	must(posix_memalign(&p, three, 4000) != 0, "bad alignment");
	must(posix_memalign(&p, 64, too_much) != 0, "huge size");
	must(posix_memalign(&p, 64, 200) == 0, "posix_memalign"); /* LEAK */
	must(posix_memalign(&p, 4096, 10000) == 0, "page");
	free(p);
	keep(aligned_alloc(64, 640)); /* LEAK */
	must(keep(aligned_alloc(64, too_much)) == NULL, "aligned_alloc");
	keep(memalign(128, 50)); /* LEAK */
	keep(valloc(70));        /* LEAK */
	keep(pvalloc(80));       /* LEAK */
}

OWN_FRAME static void kept_maps(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, flags, -1, 0); /* LEAK */

	must(p != MAP_FAILED, "mmap");
	must(mmap(NULL, zero, PROT_READ, flags, -1, 0) == MAP_FAILED, "empty");
	must(munmap(p + 4 * 4096, 4096) == 0, "munmap");
	must(mremap(p, 4 * 4096, 2 * 4096, 0) == p, "mremap");
}

OWN_FRAME static void all(int depth)
{
	if (depth) {
		all(depth - 1);
		keep(&depth);
		return;
	}
	free_nothing();
	kept_mallocs();
	kept_callocs();
	kept_reallocs();
	kept_aligned();
	kept_maps();
}

int main(void)
{
	ready();
	for (int i = 0; i < TIMES; i++)
		all(i);
	leaks("kept_mallocs", 4 * TIMES, TIMES * (100 + 2000 + BIG + 1));
	leaks("kept_callocs", 2 * TIMES, TIMES * (7 * 11 + 5000));
	leaks("kept_reallocs", 2 * TIMES, TIMES * (20 + 81));
	leaks("kept_aligned", 5 * TIMES, TIMES * (200 + 640 + 50 + 70 + 80));
	maps("kept_maps", TIMES, TIMES * 2 * 4096, "mmap");
	marker();
	ready();
	return 0;
}
