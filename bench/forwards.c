// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to be preloaded. Its malloc and free only call the next library's malloc and free. Its
 * cost is the minimum cost of any preloaded library that traces malloc and free.
 */
#include <dlfcn.h>
#include <stddef.h>

static void *(*next_malloc)(size_t size);
static void (*next_free)(void *block);

void *malloc(size_t size);
void free(void *block);

void *malloc(size_t size)
{
	void *block;

	if (!next_malloc)
		next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	block = next_malloc(size);
	/* Prevent a tail call: a library that traces malloc also does some work after the call. */
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

void free(void *block)
{
	if (!next_free)
		next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_free(block);
}
