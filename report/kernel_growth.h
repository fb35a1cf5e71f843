/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slab caches and lines of kernel code whose memory has grown since tracing began. */
#ifndef REPORT_KERNEL_GROWTH_H
#define REPORT_KERNEL_GROWTH_H

#include <stdint.h>

/* Maximum number of caches in a snapshot, and maximum number of lines of kernel code */
#define KERNEL_GROWTHS_MAX 16

/* Recordings store these numbers. */
enum kernel_growth_kind {
	GROWTH_OF_CACHE,
	GROWTH_OF_LINE,
	KERNEL_GROWTH_KIND_CNT,
};

/* Whether the kernel can reclaim a cache. Recordings store these numbers. */
enum reclaim {
	RECLAIM_NO,
	RECLAIM_YES,
	RECLAIM_UNKNOWN,
	RECLAIM_CNT,
};

struct kernel_growth {
	enum kernel_growth_kind kind;
	const char *name;     /* name of the cache; file, line and function of the code */
	uint64_t bytes;       /* bytes in use in the whole system */
	uint64_t grown_bytes; /* growth of `bytes` since tracing began */
	enum reclaim reclaim; /* RECLAIM_UNKNOWN for lines of code */
};

#endif
