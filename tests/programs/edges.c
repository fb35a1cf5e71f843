// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * edges NAME: runs one special case, such as a call that fails, a size of zero, or an address that
 * is used again. A failing call must not change the counts. Cases that need a block before their
 * special call get it from kept_block().
 */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#include "truth.h"

#define TOO_MUCH ((size_t)PTRDIFF_MAX)

/* volatile, so that the compiler does not see that calls with these sizes must fail. */
static volatile size_t too_much = TOO_MUCH, half = SIZE_MAX / 2, zero, three = 3;

OWN_FRAME static void *kept_block(void)
{
	return keep(malloc(100)); /* LEAK */
}

static void say_kept(void)
{
	leaks("kept_block", 1, 100);
}

OWN_FRAME static void realloc_fails(void)
{
	must(realloc(kept_block(), too_much) == NULL, "realloc fails");
	say_kept();
}

/* If realloc() fails, memleak must keep its record of the block until the following free(). */
OWN_FRAME static void realloc_fails_then_free(void)
{
	void *p = kept_block();

	must(realloc(p, too_much) == NULL, "realloc fails");
	free(p);
}

OWN_FRAME static void reallocarray_fails(void)
{
	must(reallocarray(kept_block(), half, 4) == NULL, "reallocarray fails");
	say_kept();
}

OWN_FRAME static void realloc_to_zero(void)
{
	must(realloc(kept_block(), zero) == NULL, "realloc(p, 0) frees");
}

OWN_FRAME static void realloc_null_zero(void)
{
	for (int i = 0; i < 3; i++)
		must(keep(realloc(NULL, zero)) != NULL, "realloc(NULL, 0)"); /* LEAK */
	leaks("realloc_null_zero", 3, 0);
}

OWN_FRAME static void realloc_moves(void)
{
	char *old = kept_block(), *wall = keep(malloc(10)), *p;

	p = keep(realloc(old, 10 << 20)); /* LEAK */
	must(p && p != old, "realloc moves");
	free(wall);
	leaks("realloc_moves", 1, 10 << 20);
}

OWN_FRAME static void realloc_in_place(void)
{
	void *old = keep(malloc(1000)), *p = keep(realloc(old, 900)); /* LEAK */

	must(p == old, "realloc stays");
	leaks("realloc_in_place", 1, 900);
}

/*
 * Reallocates a block of the first phase in the second phase, in which it then counts as allocated.
 */
OWN_FRAME static void realloc_later(void)
{
	void *p = kept_block();

	say_kept();
	ready();
	keep(realloc(p, 200)); /* LEAK */
	leaks("realloc_later", 1, 200);
}

/*
 * glibc reallocates this block by mremap(). memleak must count the call as a realloc, not as a
 * mapping made by the program.
 */
OWN_FRAME static void realloc_of_mapped(void)
{
	void *p = keep(malloc(8 << 20));

	for (size_t mib = 16; mib <= 64; mib *= 2)
		p = keep(realloc(p, mib << 20)); /* LEAK */
	leaks("realloc_of_mapped", 1, 64 << 20);
}

/*
 * Tests that a block is not counted again after a failed call, whose output pointer still points to
 * the block.
 */
OWN_FRAME static void posix_memalign_fails(void)
{
	void *p = kept_block();

	must(posix_memalign(&p, three, 4000) == EINVAL, "bad alignment");
	must(posix_memalign(&p, 64, too_much) == ENOMEM, "huge size");
	say_kept();
}

OWN_FRAME static void malloc_zero(void)
{
	for (int i = 0; i < 3; i++)
		must(keep(malloc(zero)) != NULL, "malloc(0)"); /* LEAK */
	leaks("malloc_zero", 3, 0);
}

OWN_FRAME static void null_results(void)
{
	must(keep(malloc(too_much)) == NULL, "malloc");
	must(keep(calloc(half, 4)) == NULL, "calloc");
	must(keep(aligned_alloc(64, too_much)) == NULL, "aligned_alloc");
	must(keep(memalign(64, too_much)) == NULL, "memalign");
	must(keep(valloc(too_much)) == NULL, "valloc");
	must(keep(pvalloc(too_much)) == NULL, "pvalloc");
	must(keep(realloc(NULL, too_much)) == NULL, "realloc");
	free(NULL);
}

OWN_FRAME static void map_failed(void)
{
	must(mmap(NULL, zero, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED,
	     "empty mapping");
	must(mmap(NULL, TOO_MUCH, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED,
	     "huge mapping");
	must(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED, "no file");
}

/*
 * Reuses the same address many times: results would be wrong if memleak counted a free late or
 * twice.
 */
OWN_FRAME static void address_reuse(void)
{
	for (int i = 0; i < 10000; i++) {
		void *p = keep(malloc(48));

		p = keep(realloc(p, 40));
		free(p);
	}
	keep(malloc(48)); /* LEAK */
	leaks("address_reuse", 1, 48);
}

static const struct {
	const char *name;
	void (*run)(void);
} edges[] = {
	{"realloc_fails", realloc_fails},
	{"realloc_fails_then_free", realloc_fails_then_free},
	{"reallocarray_fails", reallocarray_fails},
	{"realloc_to_zero", realloc_to_zero},
	{"realloc_null_zero", realloc_null_zero},
	{"realloc_moves", realloc_moves},
	{"realloc_in_place", realloc_in_place},
	{"realloc_later", realloc_later},
	{"realloc_of_mapped", realloc_of_mapped},
	{"posix_memalign_fails", posix_memalign_fails},
	{"malloc_zero", malloc_zero},
	{"null_results", null_results},
	{"map_failed", map_failed},
	{"address_reuse", address_reuse},
};

int main(int argc, char **argv)
{
	must(argc == 2, "usage");
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++)
		if (!strcmp(argv[1], edges[i].name)) {
			edges[i].run();
			marker();
			ready();
			return 0;
		}
	must(0, argv[1]);
}
