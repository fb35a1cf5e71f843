// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates blocks of many sizes, up to terabytes, at one call site. The program's own malloc()
 * hands out address space without memory. memleak packs the number and the bytes of a stack's
 * blocks into one 64-bit word: neither may overflow into the other when they grow or shrink.
 */
#include <sys/mman.h>

#include "truth.h"

#define GIB (1UL << 30)
#define HEADER 4096UL

static const size_t sizes[] = {16, 400 * GIB, 100, 400 * GIB, 2048 * GIB, 7, 400 * GIB,
			       GIB, 1 << 20, 1023 * GIB, 1, 64 * GIB};
static void *blocks[ARRAY_SIZE(sizes)];

__attribute__((noinline)) void *malloc(size_t size)
{
	char *p = mmap(NULL, size + HEADER, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	memcpy(p, &size, sizeof(size));
	return keep(p + HEADER);
}

__attribute__((noinline)) void free(void *p)
{
	size_t size;

	if (!p)
		return;
	memcpy(&size, (char *)p - HEADER, sizeof(size));
	munmap((char *)p - HEADER, size + HEADER);
}

OWN_FRAME static void *wide_alloc(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

static void say_leaks(size_t first, size_t step)
{
	size_t count = 0, bytes = 0;

	for (size_t i = first; i < ARRAY_SIZE(sizes); i += step, count++)
		bytes += sizes[i];
	leaks("wide_alloc", count, bytes);
}

int main(void)
{
	ready();
	for (volatile size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		blocks[i] = wide_alloc(sizes[i]);
		must(blocks[i] != NULL, "address space");
	}
	say_leaks(0, 1);
	ready();
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i += 2)
		free(blocks[i]);
	say_leaks(1, 2);
	ready();
	return 0;
}
