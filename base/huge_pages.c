// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests huge pages from the kernel. */
#include "base/huge_pages.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Minimum size of memory, in bytes, for which huge pages are worthwhile. */
#define LARGE_BYTES (4UL << 20)

void huge_pages_use(void *start, size_t bytes)
{
	uintptr_t page_mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
	uintptr_t begin = ((uintptr_t)start + page_mask) & ~page_mask;
	uintptr_t end = ((uintptr_t)start + bytes) & ~page_mask;

	/* Ignore errors, since huge pages are only an optimisation. */
	if (start && bytes >= LARGE_BYTES)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
