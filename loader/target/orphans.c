// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches /proc for orphans of a program. */
#include "loader/target/orphans.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "loader/target/cgroups.h"

/* Maximum number of ancestors of a process that are considered. */
#define ANCESTORS_MAX 64

struct search {
	pid_t pid;
	char program[PATH_MAX];
	struct proc_relations relations;
	pid_t ancestors[ANCESTORS_MAX]; /* nearest first */
	int ancestor_cnt;
	bool (*is_traced)(const void *arg, pid_t pid);
	const void *arg;
	struct footprint *ret;
};

/* Reads the path of the program without access to the program's file system. */
static bool read_program(pid_t pid, char *ret)
{
	return proc_readlink(pid, -1, "exe", ret) > 0;
}

static bool is_same_program(const struct search *search, pid_t pid)
{
	char program[PATH_MAX];

	return read_program(pid, program) && !strcmp(program, search->program);
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

static int look(void *arg, pid_t pid)
{
	const struct search *search = arg;
	struct footprint *ret = search->ret;
	cleanup_free char *name = NULL;

	if (pid == search->pid || search->is_traced(search->arg, pid) ||
	    !is_same_program(search, pid) || !is_orphan(search, pid))
		return 0;
	ret->parts[FOOTPRINT_ORPHANS]++;
	name = *ret->orphan ? NULL : proc_comm(pid);
	if (name)
		snprintf(ret->orphan, sizeof(ret->orphan), "%s", name);
	return 0;
}

void orphans_read(pid_t pid, bool (*is_traced)(const void *arg, pid_t pid), const void *arg,
		  struct footprint *ret)
{
	struct search search = {.pid = pid, .is_traced = is_traced, .arg = arg, .ret = ret};

	if (!proc_relations(pid, &search.relations) || !read_program(pid, search.program) ||
	    is_traced(arg, search.relations.parent))
		return;
	read_ancestors(&search);
	proc_visit(look, &search);
}
