// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks the kernel for huge pages. */
#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Smaller memory has none, or is not worth one. */
#define LARGE_BYTES (4UL << 20)

void huge_pages_use(void *start, size_t bytes)
{
	uintptr_t page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t begin = ((uintptr_t)start + page_mask) & ~page_mask;
	uintptr_t end = ((uintptr_t)start + bytes) & ~page_mask;

	/* Without them all works as well. */
	if (start && bytes >= LARGE_BYTES)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
