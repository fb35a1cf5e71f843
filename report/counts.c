// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the rows of --count, and adds them up. */
#include "report/counts.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"

static int by_calls(const void *left, const void *right)
{
	const struct count_row *a = *(const struct count_row *const *)left;
	const struct count_row *b = *(const struct count_row *const *)right;

	return ORDER(b->calls, a->calls) ?: ORDER(a->key, b->key);
}

int counts_report_init(const struct options *opts, const struct snapshot *snap, bool final,
		       struct counts_report *ret)
{
	const struct counts *counts = snap->counts;
	size_t most = opts->max_records ? opts->max_records : opts->top;
	struct counts_report report = {
		.snapshot = snap,
		.counts = counts,
		.final = final,
		.rows = calloc(counts->cnt + 1, sizeof(struct count_row *)),
	};

	if (!report.rows)
		return -ENOMEM;
	report.sum.total_calls = counts->ended_calls;
	report.sum.total_bytes = counts->ended_bytes;
	for (size_t i = 0; i < counts->cnt; i++) {
		const struct count_row *row = &counts->rows[i];

		report.sum.calls += row->calls;
		report.sum.bytes += row->bytes;
		report.sum.total_calls += row->total_calls;
		report.sum.total_bytes += row->total_bytes;
		if (row->calls)
			report.rows[report.total++] = row;
	}
	qsort(report.rows, report.total, sizeof(struct count_row *), by_calls);
	report.cnt = report.total < most ? report.total : most;
	*ret = report;
	return 0;
}

void counts_report_deinit(struct counts_report *report)
{
	free(report->rows);
	report->rows = NULL;
}
