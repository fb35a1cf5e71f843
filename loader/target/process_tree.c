// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds descendants: marks the children of marked processes until no new process is marked. */
#include "loader/target/process_tree.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/order.h"

static int by_pid(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	return ORDER(a->pid, b->pid);
}

static bool is_given(pid_t pid, const pid_t *pids, size_t pid_cnt)
{
	for (size_t i = 0; i < pid_cnt; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* True if the process is in the list and is marked. */
static bool is_marked(const struct member *members, const bool *marks, size_t cnt, pid_t pid)
{
	size_t at = bisect_below(members, cnt, pid, pid);

	return at < cnt && members[at].pid == pid && marks[at];
}

/* Marks the children of marked processes. Returns the number of newly marked processes. */
static size_t mark_children(const struct member *members, bool *marks, size_t cnt)
{
	size_t marked = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (marks[i] || !is_marked(members, marks, cnt, members[i].parent))
			continue;
		marks[i] = true;
		marked++;
	}
	return marked;
}

int process_tree_keep_descendants(struct member *members, size_t *cnt, const pid_t *pids,
				  size_t pid_cnt)
{
	cleanup_free bool *marks = calloc(*cnt + 1, sizeof(*marks));
	size_t kept = 0;

	if (!marks)
		return -ENOMEM;
	qsort(members, *cnt, sizeof(*members), by_pid);
	for (size_t i = 0; i < *cnt; i++)
		marks[i] = is_given(members[i].pid, pids, pid_cnt);
	while (mark_children(members, marks, *cnt))
		;
	for (size_t i = 0; i < *cnt; i++)
		if (marks[i] && !is_given(members[i].pid, pids, pid_cnt))
			members[kept++] = members[i];
	*cnt = kept;
	return 0;
}
