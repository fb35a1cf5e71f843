// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * many COUNT SIZE: allocates COUNT blocks of SIZE bytes at one call site, frees all of them, then
 * allocates ten more.
 */
#include "truth.h"

static void **blocks;

OWN_FRAME static void *leak_many(size_t size)
{
	return keep(malloc(size)); /* LEAK */
}

int main(int argc, char **argv)
{
	size_t count, size;

	must(argc == 3, "usage");
	count = strtoul(argv[1], NULL, 10);
	size = strtoul(argv[2], NULL, 10);
	blocks = calloc(count, sizeof(*blocks));
	must(blocks != NULL, "memory");
	ready();
	for (size_t i = 0; i < count; i++)
		blocks[i] = leak_many(size);
	leaks("leak_many", count, count * size);
	ready();
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
	ready();
	for (size_t i = 0; i < 10; i++)
		blocks[i] = leak_many(size);
	leaks("leak_many", 10, 10 * size);
	ready();
	return 0;
}
