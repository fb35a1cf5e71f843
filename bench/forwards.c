// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library with malloc and free that only call the next library's malloc and free. Its cost is the
 * minimum for any preloaded library.
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
	/* Prevents a tail call: like a tracer, the library continues after the call. */
	__asm__ volatile("" : "+r"(block) : : "memory");
	return block;
}

void free(void *block)
{
	if (!next_free)
		next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_free(block);
}
