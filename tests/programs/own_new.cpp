// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with its own operator new and delete. Its operator new hands out pieces of one array,
 * and sometimes a block from libc's malloc().
 */
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

static char room[64 << 20];
static std::size_t used;

__attribute__((noinline)) static void note(std::size_t size)
{
	if (used % 5 == 0)
		free(malloc(size % 100));
}

/* Throws and catches an exception within the allocator. */
__attribute__((noinline)) static void throw_within(std::size_t size)
{
	try {
		if (size % 2)
			throw std::bad_alloc();
	} catch (const std::bad_alloc &) {
	}
}

__attribute__((always_inline)) static inline void *next_piece(std::size_t size)
{
	std::size_t wanted = (size + 31) & ~std::size_t(15);

	throw_within(size);
	if (size > sizeof(room) || wanted > sizeof(room) - used)
		throw std::bad_alloc();
	note(size);
	used += wanted;
	return room + used - wanted;
}

void *operator new(std::size_t size)
{
	return next_piece(size);
}

void operator delete(void *) noexcept
{
	__asm__ volatile("" : : : "memory");
}

void operator delete(void *p, std::size_t) noexcept
{
	operator delete(p);
}

/* A function of this program that happens to have the name of a mimalloc function. */
extern "C" void *mi_new_realloc(void *old, std::size_t size)
{
	void *p = next_piece(size);

	memmove(p, old, size);
	__asm__ volatile("" : "+r"(p)); /* keeps memmove from being a tail call */
	return p;
}
