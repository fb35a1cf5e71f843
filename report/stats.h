/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What --stats tells beyond a report: what the programs of one address space have done since
 * tracing began, and how full their tables are. Plain data.
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
	uint64_t size; /* 0: there is no such table */
};

struct stats {
	bool known; /* that space is traced */
	uint64_t calls;
	uint64_t calls_of[FAMILY_CNT]; /* user space */
	uint64_t failed;
	uint64_t walked; /* stacks, here and below */
	uint64_t cached;
	uint64_t checked;
	uint64_t disagreed;
	uint64_t stored;
	struct fill fills[TABLE_CNT]; /* with --stats */
};

const char *table_name(enum table table);

#endif
