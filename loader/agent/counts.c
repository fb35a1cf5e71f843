// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds up calls by process, function or cgroup: since the last report, and in total. */
#include "loader/agent/counts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/clock.h"
#include "loader/target/cgroups.h"
#include "report/snapshot_own.h"
#include "report/terms.h"

void agent_counts_init(struct agent_counts *ret, enum count_by by)
{
	bool unified;

	ret->counts.by = by;
	if (by == COUNT_BY_CGROUP)
		ret->mount = cgroup_memory_mount(&unified);
}

void agent_counts_deinit(struct agent_counts *counts)
{
	for (size_t i = 0; i < counts->counts.cnt; i++)
		free(counts->counts.rows[i].name);
	free(counts->counts.rows);
	free(counts->mount);
}

enum family family_of_call(unsigned int call)
{
	static const enum family families[ACCOUNT_CALL_CNT] = {
		[ACCOUNT_CALL_MALLOC] = FAMILY_MALLOC,
		[ACCOUNT_CALL_CALLOC] = FAMILY_CALLOC,
		[ACCOUNT_CALL_REALLOC] = FAMILY_REALLOC,
		[ACCOUNT_CALL_REALLOCARRAY] = FAMILY_REALLOCARRAY,
		[ACCOUNT_CALL_ALIGNED] = FAMILY_ALIGNED_ALLOC,
		[ACCOUNT_CALL_POSIX_MEMALIGN] = FAMILY_POSIX_MEMALIGN,
		[ACCOUNT_CALL_NEW] = FAMILY_MALLOC,
		[ACCOUNT_CALL_MAP] = FAMILY_MMAP,
		[ACCOUNT_CALL_UNMAP] = FAMILY_MUNMAP,
		[ACCOUNT_CALL_REMAP] = FAMILY_MREMAP,
	};

	return families[call];
}

/* Returns the row of a key, adding it if needed; NULL if out of memory. */
static struct count_row *row_of(struct agent_counts *all, uint64_t key, const char *name)
{
	struct counts *counts = &all->counts;
	size_t at = bisect_below(counts->rows, counts->cnt, key, key);

	if (at < counts->cnt && counts->rows[at].key == key)
		return &counts->rows[at];
	if (array_reserve(&counts->rows, &all->cap, counts->cnt + 1))
		return NULL;
	array_open(counts->rows, counts->cnt, at);
	counts->rows[at] = (struct count_row){.key = key, .name = name ? strdup(name) : NULL};
	counts->cnt++;
	return &counts->rows[at];
}

static uint64_t cgroup_number(const struct agent_counts *all, const char *cgroup)
{
	char path[PATH_MAX];
	struct stat st;

	if (!all->mount || !cgroup ||
	    (size_t)snprintf(path, sizeof(path), "%s%s", all->mount, cgroup) >= sizeof(path) ||
	    stat(path, &st))
		return COUNT_OTHERS;
	return st.st_ino;
}

static struct count_row *row_of_process(struct agent_counts *all, struct agent_process *process,
					enum family family)
{
	const struct process *info = &process->info;
	uint64_t key;

	switch (all->counts.by) {
	case COUNT_BY_PROCESS:
		return row_of(all, (uint64_t)info->pid, info->comm);
	case COUNT_BY_FUNCTION:
		return row_of(all, family, family_name(family));
	default:
		key = cgroup_number(all, info->cgroup);
		return row_of(all, key, key == COUNT_OTHERS ? NULL : info->cgroup);
	}
}

static int add(struct agent_counts *all, struct agent_process *process, enum family family,
	       uint64_t calls, uint64_t bytes)
{
	struct count_row *row;

	if (!calls)
		return 0;
	row = row_of_process(all, process, family);
	if (!row)
		return -ENOMEM;
	row->calls += calls;
	row->bytes += bytes;
	row->total_calls += calls;
	row->total_bytes += bytes;
	return 0;
}

/*
 * Adds the allocator calls of a process since the previous call of this function. Leaves out
 * mmap(), munmap() and mremap().
 */
static int add_process(struct agent_counts *all, struct agent_process *process,
		       struct snapshot *snap)
{
	const struct account_totals before = process->counted;
	struct account_totals *now = &process->counted;
	int err;

	account_view_totals(&process->view, now);
	snap->lost[LOSS_THREADS_FULL] += process->view.account->lost[ACCOUNT_LOST_THREADS];
	err = add(all, process, FAMILY_FREE, now->frees - before.frees, 0);
	for (unsigned int i = 0; !err && i < ACCOUNT_CALL_MAP; i++)
		err = add(all, process, family_of_call(i), now->calls[i] - before.calls[i],
			  now->asked[i] - before.asked[i]);
	return err;
}

static void find_ended(struct counts *counts, const struct agent_processes *processes)
{
	if (counts->by != COUNT_BY_PROCESS)
		return;
	for (size_t i = 0; i < counts->cnt; i++)
		counts->rows[i].ended = true;
	for (size_t i = 0; i < processes->cnt; i++) {
		uint64_t pid = (uint64_t)processes->items[i]->info.pid;
		size_t at = bisect_below(counts->rows, counts->cnt, key, pid);

		if (at < counts->cnt && counts->rows[at].key == pid)
			counts->rows[at].ended &= processes->items[i]->ended;
	}
}

int agent_counts_read(struct agent_counts *all, const struct agent_processes *processes,
		      uint64_t start_ns, struct snapshot *ret)
{
	struct counts *counts = &all->counts;
	struct snapshot snap = {
		.t0_ns = clock_ns(CLOCK_MONOTONIC),
		.wall_ns = (int64_t)clock_ns(CLOCK_REALTIME),
		.counts = counts,
	};
	int err = 0;

	snap.elapsed_ns = snap.t0_ns - start_ns;
	counts->interval_ns = snap.t0_ns - all->last_ns;
	all->last_ns = snap.t0_ns;
	for (size_t i = 0; i < counts->cnt; i++)
		counts->rows[i].calls = counts->rows[i].bytes = 0;
	for (size_t i = 0; !err && i < processes->cnt; i++)
		err = add_process(all, processes->items[i], &snap);
	find_ended(counts, processes);
	snap.calls = counts->ended_calls;
	for (size_t i = 0; i < counts->cnt; i++)
		snap.calls += counts->rows[i].total_calls;
	if (!err)
		err = snapshot_own(&snap);
	if (err)
		snapshot_deinit(&snap);
	else
		*ret = snap;
	return err;
}

void agent_counts_drop_ended(struct agent_counts *all)
{
	struct counts *counts = &all->counts;
	size_t kept = 0;

	for (size_t i = 0; i < counts->cnt; i++) {
		if (!counts->rows[i].ended) {
			counts->rows[kept++] = counts->rows[i];
			continue;
		}
		counts->ended_calls += counts->rows[i].total_calls;
		counts->ended_bytes += counts->rows[i].total_bytes;
		free(counts->rows[i].name);
	}
	counts->cnt = kept;
}
