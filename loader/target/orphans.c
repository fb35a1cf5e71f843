// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the programs of all processes in /proc, and searches the list for orphans of a program. */
#include "loader/target/orphans.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/proc.h"
#include "loader/target/cgroups.h"

/* Maximum number of ancestors of a process that are considered. */
#define ANCESTORS_MAX 64

struct running_program {
	pid_t pid;
	uint64_t program; /* hash of the path */
};

struct search {
	pid_t pid;
	struct proc_relations relations;
	pid_t ancestors[ANCESTORS_MAX]; /* nearest first */
	int ancestor_cnt;
};

void program_list_deinit(struct program_list *list)
{
	free(list->items);
	*list = (struct program_list){0};
}

/*
 * Returns a hash of the path of a process's program; 0 if it has none. Does not access the
 * program's file system.
 */
static uint64_t program_of(pid_t pid)
{
	char program[PATH_MAX];

	return proc_readlink(pid, -1, "exe", program) > 0 ? hash_text(0, program) : 0;
}

static int list_program(void *arg, pid_t pid)
{
	struct program_list *list = arg;
	uint64_t program = program_of(pid);

	if (!program)
		return 0;
	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -1;
	list->items[list->cnt++] = (struct running_program){pid, program};
	return 0;
}

static void read_list(struct program_list *list)
{
	if (!list->is_read)
		proc_visit(list_program, list);
	list->is_read = true;
}

/* Reads the ancestors once: there may be tens of thousands of processes to compare with them. */
static void read_ancestors(struct search *search)
{
	struct proc_relations at = search->relations;

	while (search->ancestor_cnt < ANCESTORS_MAX && at.parent > 0) {
		search->ancestors[search->ancestor_cnt++] = at.parent;
		if (!proc_relations(at.parent, &at))
			break;
	}
}

static bool is_ancestor(const struct search *search, pid_t pid)
{
	for (int i = 0; i < search->ancestor_cnt; i++)
		if (search->ancestors[i] == pid)
			return true;
	return false;
}

static bool is_in_same_cgroup(pid_t pid, pid_t other)
{
	cleanup_free char *a = cgroup_of_process(pid), *b = cgroup_of_process(other);

	return a && b && !strcmp(a, b);
}

/*
 * True if a process is an orphan of the same program. Processes with the parent of search->pid may
 * be its siblings, as in a pipe, unless the parent is init and search->pid leads their group or
 * session.
 */
static bool is_orphan(const struct search *search, pid_t pid)
{
	const struct proc_relations *own = &search->relations;
	struct proc_relations other;

	if (!proc_relations(pid, &other) || other.begin < own->begin ||
	    !is_ancestor(search, other.parent) || is_ancestor(search, pid))
		return false;
	if (other.parent == own->parent)
		return other.parent == 1 &&
		       (other.group == search->pid || other.session == search->pid);
	return other.group == own->group || other.session == own->session ||
	       is_in_same_cgroup(search->pid, pid);
}

static void add_orphan(pid_t pid, struct footprint *ret)
{
	cleanup_free char *name = *ret->orphan ? NULL : proc_comm(pid);

	ret->parts[FOOTPRINT_ORPHANS]++;
	if (name)
		snprintf(ret->orphan, sizeof(ret->orphan), "%s", name);
}

void orphans_read(struct program_list *list, pid_t pid,
		  bool (*is_traced)(const void *arg, pid_t pid), const void *arg,
		  struct footprint *ret)
{
	struct search search = {.pid = pid};
	uint64_t program = program_of(pid);

	if (!program || !proc_relations(pid, &search.relations) ||
	    is_traced(arg, search.relations.parent))
		return;
	read_ancestors(&search);
	read_list(list);
	for (size_t i = 0; i < list->cnt; i++) {
		pid_t other = list->items[i].pid;

		if (other != pid && list->items[i].program == program && !is_traced(arg, other) &&
		    is_orphan(&search, other))
			add_orphan(other, ret);
	}
}
