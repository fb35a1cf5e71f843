// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocates and frees by the allocator of bump.c, which is linked into the program, comes from a
 * library, or has functions with the prefix PREFIX. Frees by free(), by free_sized() and
 * free_aligned_sized() of C23, and by cfree() of old C libraries.
 */
#include "truth.h"

#ifdef PREFIX
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(function) PASTE(PREFIX, function)
#else
#define NAME(function) function
#endif

void *NAME(malloc)(size_t size);
void *NAME(calloc)(size_t n, size_t size);
void *NAME(realloc)(void *p, size_t size);
void *NAME(aligned_alloc)(size_t align, size_t size);
void NAME(free)(void *p);
void NAME(free_sized)(void *p, size_t size);
void NAME(free_aligned_sized)(void *p, size_t align, size_t size);
void NAME(cfree)(void *p);

OWN_FRAME static void *own_alloc(size_t size)
{
	return keep(NAME(malloc)(size)); /* LEAK */
}

OWN_FRAME static void *own_aligned(size_t size)
{
	return keep(NAME(aligned_alloc)(64, size)); /* LEAK */
}

OWN_FRAME static void *own_zeroed(size_t size)
{
	return keep(NAME(calloc)(2, size)); /* LEAK */
}

OWN_FRAME static void *own_resized(void *p, size_t size)
{
	return keep(NAME(realloc)(p, size)); /* LEAK */
}

int main(void)
{
	ready();
	for (int i = 0; i < 5; i++) {
		own_alloc(64);
		NAME(free)(own_alloc(64));
		NAME(free_sized)(own_alloc(64), 64);
		NAME(cfree)(own_alloc(64));
		own_aligned(128);
		NAME(free_aligned_sized)(own_aligned(128), 64, 128);
		own_zeroed(20);
		own_resized(own_alloc(8), 80);
	}
	leaks("own_alloc", 5, 5 * 64);
	leaks("own_aligned", 5, 5 * 128);
	leaks("own_zeroed", 5, 5 * 40);
	leaks("own_resized", 5, 5 * 80);
	ready();
	return 0;
}
