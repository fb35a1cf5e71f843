/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --count shows: calls since the last report and in all. Plain data. */
#ifndef REPORT_COUNTS_H
#define REPORT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "options/options.h"
#include "report/snapshot.h"

/* The key of what finds no row of its own. */
#define COUNT_OTHERS UINT64_MAX

struct count_row {
	uint64_t key;   /* of a cgroup: its number; of a process: its pid */
	char *name;     /* path of a cgroup, name of a process or function; NULL: not known */
	bool ended;     /* nothing is added any more */
	bool sought;    /* its name was looked for; in vain, if it has none */
	uint64_t calls; /* since the last report; so bytes */
	uint64_t bytes; /* that calls have asked for */
	uint64_t total_calls;
	uint64_t total_bytes;
};

struct counts {
	enum count_by by;
	uint64_t interval_ns; /* since the last report */
	struct count_row *rows;
	size_t cnt;
	uint64_t ended_calls; /* of rows that are no more */
	uint64_t ended_bytes;
};

/* Those that are shown, and the sums of all. */
struct counts_report {
	const struct snapshot *snapshot;
	const struct counts *counts;
	bool final;
	const struct count_row **rows; /* with most calls first */
	size_t cnt;
	size_t total; /* rows that have calls since the last report */
	struct count_row sum;
};

/* Rows without a call since the last report are left out. Returns 0 or -ENOMEM. */
int counts_report_init(const struct options *opts, const struct snapshot *snap, bool final,
		       struct counts_report *ret);
void counts_report_deinit(struct counts_report *report);

#endif
