// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A preloaded allocator. For each block it requests HEADER bytes more from the C library's
 * allocator, and returns the address after these bytes. If HEADER is 0 and the compiler optimises,
 * it calls the C library's function by a tail call.
 */
#include <dlfcn.h>

#include "truth.h"

static void *(*next_malloc)(size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

__attribute__((constructor)) static void find_next(void)
{
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
}

void *malloc(size_t size)
{
	char *p;

	if (!next_malloc)
		find_next();
	if (!HEADER)
		return next_malloc(size);
	p = keep(next_malloc(size + HEADER));
	return p ? p + HEADER : NULL;
}

void *realloc(void *old, size_t size)
{
	char *p;

	if (!next_realloc)
		find_next();
	if (!HEADER)
		return next_realloc(old, size);
	p = keep(next_realloc(old ? (char *)old - HEADER : NULL, size + HEADER));
	return p ? p + HEADER : NULL;
}

void *calloc(size_t count, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	p = malloc(bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

void free(void *p)
{
	if (!p)
		return;
	if (!next_free)
		find_next();
	next_free((char *)p - HEADER);
	if (HEADER)
		__asm__ volatile("");
}
