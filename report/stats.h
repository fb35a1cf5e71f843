/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data of --stats for one address space: counters of its BPF programs since tracing began, and how
 * full its tables are.
 */
#ifndef REPORT_STATS_H
#define REPORT_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/terms.h"

enum table {
	TABLE_BLOCKS,
	TABLE_RECENT,
	TABLE_SITES,
	TABLE_STACKS,
	TABLE_THREADS,
	TABLE_CNT,
};

struct fill {
	uint64_t used;
	uint64_t size; /* size of the table; 0 if there is no such table */
};

struct stats {
	bool known; /* true if the address space is traced */
	uint64_t calls;
	uint64_t calls_of[FAMILY_CNT]; /* calls by family; counted for user space only */
	uint64_t failed;
	uint64_t walked; /* this field and the fields up to `stored` are numbers of stacks */
	uint64_t cached;
	uint64_t checked;
	uint64_t disagreed;
	uint64_t stored;
	struct fill fills[TABLE_CNT]; /* how full the tables are; set only with --stats */
};

const char *table_name(enum table table);

#endif
