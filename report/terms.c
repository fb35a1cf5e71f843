// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of kinds of memory and of function families in reports. */
#include "report/terms.h"

#include <stddef.h>

const char *kind_name(enum block_kind kind)
{
	static const char *const names[KIND_CNT] = {
		[KIND_HEAP] = "heap",       [KIND_MMAP] = "mmap",
		[KIND_RESERVE] = "reserve", [KIND_STACK] = "stack",
		[KIND_SLAB] = "slab",       [KIND_PAGE] = "page",
		[KIND_PERCPU] = "percpu",   [KIND_DESCRIPTOR] = "descriptor",
	};

	return (unsigned int)kind < KIND_CNT ? names[kind] : "unknown";
}

const char *family_name(enum family family)
{
	static const char *const names[FAMILY_CNT] = {
		[FAMILY_MALLOC] = "malloc",
		[FAMILY_CALLOC] = "calloc",
		[FAMILY_ALIGNED_ALLOC] = "aligned_alloc",
		[FAMILY_REALLOC] = "realloc",
		[FAMILY_REALLOCARRAY] = "reallocarray",
		[FAMILY_POSIX_MEMALIGN] = "posix_memalign",
		[FAMILY_FREE] = "free",
		[FAMILY_MMAP] = "mmap",
		[FAMILY_MUNMAP] = "munmap",
		[FAMILY_MREMAP] = "mremap",
		[FAMILY_STRDUP] = "strdup",
	};

	return (unsigned int)family < FAMILY_CNT ? names[family] : NULL;
}
