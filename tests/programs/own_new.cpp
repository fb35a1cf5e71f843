// SPDX-License-Identifier: GPL-2.0-or-later
/* A program's own operator new and delete: pieces of one array, and now and then a chunk of libc. */
#include <cstddef>
#include <cstdlib>
#include <new>

static char room[64 << 20];
static std::size_t used;

__attribute__((noinline)) static void note(std::size_t size)
{
	if (used % 5 == 0)
		free(malloc(size % 100));
}

void *operator new(std::size_t size)
{
	std::size_t wanted = (size + 31) & ~std::size_t(15);

	if (size > sizeof(room) || wanted > sizeof(room) - used)
		throw std::bad_alloc();
	note(size);
	used += wanted;
	return room + used - wanted;
}

void operator delete(void *) noexcept
{
	__asm__ volatile("" : : : "memory");
}

void operator delete(void *p, std::size_t) noexcept
{
	operator delete(p);
}
