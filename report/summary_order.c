// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts the processes of --summary in the requested order. */
#include "report/summary_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"

static uint64_t stat_of(const struct process_summary *summary, enum summary_sort by)
{
	switch (by) {
	case SUMMARY_BY_ALLOCATED:
		return summary->allocated;
	case SUMMARY_BY_FREED:
		return summary->freed;
	case SUMMARY_BY_PEAK:
		return summary->peak;
	case SUMMARY_BY_LARGEST:
		return summary->largest;
	case SUMMARY_BY_CALLS:
		return summary->calls;
	default:
		return summary->outstanding;
	}
}

/*
 * Compares rows, for sorting: by the requested numbers, largest first; then by pid, lowest first.
 */
static int compare(const void *left, const void *right, void *arg)
{
	const struct process_summary *a = *(const struct process_summary *const *)left;
	const struct process_summary *b = *(const struct process_summary *const *)right;
	const enum summary_sort *by = arg;
	int diff = *by == SUMMARY_BY_PID ? 0 : ORDER(stat_of(b, *by), stat_of(a, *by));

	return diff ?: ORDER(a->process->pid, b->process->pid);
}

int summary_order_init(const struct snapshot *snap, enum summary_sort by,
		       const struct process_summary ***ret)
{
	const struct process_summary **ordered = calloc(snap->summary_cnt + 1, sizeof(*ordered));

	if (!ordered)
		return -ENOMEM;
	for (size_t i = 0; i < snap->summary_cnt; i++)
		ordered[i] = &snap->summaries[i];
	qsort_r(ordered, snap->summary_cnt, sizeof(*ordered), compare, &by);
	*ret = ordered;
	return 0;
}
