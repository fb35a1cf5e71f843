/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data of --count: allocator calls since the last report and in total. */
#ifndef REPORT_COUNTS_H
#define REPORT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "report/snapshot.h"

/* Key of the row with all calls that belong to no other row. */
#define COUNT_OTHERS UINT64_MAX

struct count_row {
	uint64_t key; /* pid of a process, or number of a cgroup or function */
	char *name;   /* path of a cgroup, or name of a process or function; NULL if not known */
	/* true if the process or cgroup has ended, so its row does not change any more */
	bool ended;
	bool sought;    /* true if the name has been looked up, with or without success */
	uint64_t calls; /* calls since the last report */
	uint64_t bytes; /* bytes requested since the last report */
	uint64_t total_calls;
	uint64_t total_bytes;
};

struct counts {
	enum count_by by;
	uint64_t interval_ns; /* time since the last report */
	struct count_row *rows;
	size_t cnt;
	uint64_t ended_calls; /* calls, since tracing began, of all rows that were removed */
	uint64_t ended_bytes;
};

/* The rows that a report of --count shows, and the sums over all rows. */
struct counts_report {
	const struct snapshot *snapshot;
	const struct counts *counts;
	bool final;
	const struct count_row **rows; /* shown rows, sorted: most calls first */
	size_t cnt;
	size_t total; /* number of rows with calls since the last report */
	struct count_row sum;
};

/* Selects and sorts rows that have calls since the last report. Returns 0 or -ENOMEM. */
int counts_report_init(const struct options *opts, const struct snapshot *snap, bool final,
		       struct counts_report *ret);
void counts_report_deinit(struct counts_report *report);

#endif
