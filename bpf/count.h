/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of --count. Part of the ABI. */
#ifndef BPF_COUNT_H
#define BPF_COUNT_H

#include "bpf/memleak.h"

/* Values by which --count groups the calls. */
enum memleak_count_by {
	MEMLEAK_COUNT_NOTHING,
	MEMLEAK_COUNT_CGROUP,   /* id of the cgroup */
	MEMLEAK_COUNT_PROCESS,  /* tgid */
	MEMLEAK_COUNT_FUNCTION, /* enum memleak_shape */
};

/*
 * Key of the row that counts all calls whose own row does not fit into the table. The loader
 * creates this row.
 */
#define MEMLEAK_COUNT_OTHERS (~0ULL)

/* Value of a row of the table: the counts of one CPU. */
struct memleak_count {
	__u64 calls;
	__u64 bytes;
	char comm[MEMLEAK_COMM_SIZE]; /* the process's name, if counting by process */
};

#endif
