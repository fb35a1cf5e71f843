/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --stats tells beyond a report: what the programs of one address space have done since
 * tracing began, and how full their tables are. Plain data.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/memleak.h"

enum table {
	TABLE_BLOCKS,
	TABLE_YOUNG,
	TABLE_SITES,
	TABLE_STACKS,
	TABLE_THREADS,
	TABLE_CNT,
};

struct fill {
	uint64_t used;
	uint64_t size; /* 0: there is no such table */
};

struct figures {
	bool known; /* that space is traced */
	uint64_t calls;
	uint64_t calls_of[MEMLEAK_SHAPE_CNT]; /* user space */
	uint64_t failed;
	uint64_t walked; /* stacks, here and below; see enum memleak_stat */
	uint64_t recalled;
	uint64_t checked;
	uint64_t disagreed;
	uint64_t stored;
	struct fill fills[TABLE_CNT]; /* with --stats */
};

/* The functions of a shape by the name of the best known of them; NULL: no allocator's. */
const char *shape_name(enum memleak_shape shape);

const char *table_name(enum table table);

#endif
