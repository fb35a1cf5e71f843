/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --count keeps; a part of the ABI. */
#ifndef BPF_COUNT_H
#define BPF_COUNT_H

#include "bpf/memleak.h"

/* What --count counts calls by. */
enum memleak_count_by {
	MEMLEAK_COUNT_NOTHING,
	MEMLEAK_COUNT_CGROUP,   /* the cgroup's number */
	MEMLEAK_COUNT_PROCESS,  /* tgid */
	MEMLEAK_COUNT_FUNCTION, /* enum memleak_shape */
};

/* The row of all that finds no room in the table; the loader makes it. */
#define MEMLEAK_COUNT_OTHERS (~0ULL)

/* One for each CPU. */
struct memleak_count {
	__u64 calls;
	__u64 bytes;
	char comm[MEMLEAK_COMM_SIZE]; /* by process: its name when it was first seen, on one CPU
					 alone */
};

#endif
