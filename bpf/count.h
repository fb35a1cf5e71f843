/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --count keeps; a part of the ABI. */
#ifndef MEMLEAK_COUNT_H
#define MEMLEAK_COUNT_H

#include "bpf/memleak.h"

/* --count: by what calls are counted. */
enum memleak_count_by {
	MEMLEAK_COUNT_NOTHING,
	MEMLEAK_COUNT_CGROUP,   /* its number */
	MEMLEAK_COUNT_PROCESS,  /* tgid */
	MEMLEAK_COUNT_FUNCTION, /* enum memleak_shape */
};

/* What finds no room in the table; made by the loader. */
#define MEMLEAK_COUNT_OTHERS (~0ULL)

/* By CPU. */
struct memleak_count {
	__u64 calls;
	__u64 bytes;
	char comm[MEMLEAK_COMM_SIZE]; /* by process: its name when it was met, on one CPU alone */
};

#endif
