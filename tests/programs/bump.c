// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An allocator that is independent of libc: it hands out pieces of one array and never reuses them.
 * It is built in three ways: as part of a program, as a library, and as a library whose functions
 * have names with the prefix PREFIX.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef PREFIX
#define PREFIX
#endif
#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(function) PASTE(PREFIX, function)
#define OWN __attribute__((noinline, visibility("default")))

static _Alignas(4096) char arena[64 << 20];
static size_t used;

static void *take(size_t size, size_t align)
{
	size_t at = __atomic_fetch_add(&used, size + align + sizeof(size_t), __ATOMIC_RELAXED);
	uintptr_t place = (uintptr_t)arena + at + sizeof(size_t);

	if (size > sizeof(arena) || at + size + align + sizeof(size_t) > sizeof(arena)) {
		errno = ENOMEM;
		return NULL;
	}
	place = (place + align - 1) & ~(uintptr_t)(align - 1);
	memcpy((char *)place - sizeof(size_t), &size, sizeof(size));
	return (void *)place;
}

static size_t size_of(const void *p)
{
	size_t size;

	memcpy(&size, (const char *)p - sizeof(size), sizeof(size));
	return size;
}

static void give_back(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

OWN void *NAME(malloc)(size_t size)
{
	return take(size, 16);
}

/*
 * In each thread, the first call ends with a jump back to the start of this function. free() of
 * glibc 2.42 does so after it has made the thread's cache.
 */
OWN __attribute__((optimize("optimize-sibling-calls"))) void NAME(free)(void *p)
{
	static void (*volatile again)(void *) = NAME(free);
	static __thread int has_begun;

	if (!has_begun) {
		has_begun = 1;
		again(p);
		return;
	}
	give_back(p);
}

OWN void *NAME(calloc)(size_t n, size_t size)
{
	return take(n * size, 16); /* this memory is zero, because take() never reuses memory */
}

OWN void *NAME(realloc)(void *p, size_t size)
{
	void *q = take(size, 16);

	if (p && q)
		memcpy(q, p, size_of(p) < size ? size_of(p) : size);
	return q;
}

OWN void *NAME(aligned_alloc)(size_t align, size_t size)
{
	return take(size, align);
}

OWN int NAME(posix_memalign)(void **ret, size_t align, size_t size)
{
	*ret = take(size, align);
	return *ret ? 0 : ENOMEM;
}

OWN void NAME(free_sized)(void *p, size_t size)
{
	give_back(p);
	give_back((void *)size);
}

OWN void NAME(free_aligned_sized)(void *p, size_t align, size_t size)
{
	give_back(p);
	give_back((void *)(align + size));
}

OWN void NAME(cfree)(void *p)
{
	give_back(p);
}
