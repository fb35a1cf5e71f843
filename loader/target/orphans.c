// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the programs of all processes in /proc, and searches the list for orphans of a program. */
#include "loader/target/orphans.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/proc.h"
#include "loader/target/cgroups.h"

/* Maximum number of ancestors of a process that are considered. */
#define ANCESTORS_MAX 64

struct running_program {
	pid_t pid;
	uint64_t program;                /* hash of the path; 0 if unknown, or if there is none */
	bool is_related;                 /* true if the relations were read */
	struct proc_relations relations; /* all 0 if they cannot be read */
};

struct search {
	struct program_list *list;
	struct running_program *own;    /* the process whose orphans are searched for */
	pid_t ancestors[ANCESTORS_MAX]; /* nearest first; read when they are first needed */
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

	if (array_reserve(&list->items, &list->cap, list->cnt + 1))
		return -1;
	list->items[list->cnt++] = (struct running_program){.pid = pid, .program = program_of(pid)};
	return 0;
}

static int by_pid(const void *left, const void *right)
{
	const struct running_program *a = left, *b = right;

	return ORDER(a->pid, b->pid);
}

static void read_list(struct program_list *list)
{
	if (list->is_read)
		return;
	list->is_read = true;
	proc_visit(list_program, list);
	if (list->cnt)
		qsort(list->items, list->cnt, sizeof(*list->items), by_pid);
}

/* Returns NULL if the list does not contain the process. */
static struct running_program *find(const struct program_list *list, pid_t pid)
{
	size_t at = bisect_below(list->items, list->cnt, pid, (uint32_t)pid);

	return at < list->cnt && list->items[at].pid == pid ? &list->items[at] : NULL;
}

/* Reads the relations of a process once for all processes of a report. */
static const struct proc_relations *relations_of(struct running_program *program)
{
	if (!program->is_related)
		proc_relations(program->pid, &program->relations);
	program->is_related = true;
	return &program->relations;
}

static void find_ancestors(struct search *search)
{
	struct running_program *at = search->own;
	pid_t parent;

	while (search->ancestor_cnt < ANCESTORS_MAX && at &&
	       (parent = relations_of(at)->parent) > 0) {
		search->ancestors[search->ancestor_cnt++] = parent;
		at = find(search->list, parent);
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
 * True if a process is an orphan of the same program. Processes with the parent of search->own may
 * be its siblings, as in a pipe, unless the parent is init and search->own leads their group or
 * session.
 */
static bool is_orphan(struct search *search, struct running_program *program)
{
	const struct proc_relations *own = relations_of(search->own);
	const struct proc_relations *other = relations_of(program);
	pid_t pid = search->own->pid;

	if (!search->ancestor_cnt)
		find_ancestors(search);
	if (other->begin < own->begin || !is_ancestor(search, other->parent) ||
	    is_ancestor(search, program->pid))
		return false;
	if (other->parent == own->parent)
		return other->parent == 1 && (other->group == pid || other->session == pid);
	return other->group == own->group || other->session == own->session ||
	       is_in_same_cgroup(pid, program->pid);
}

/*
 * True for a copy that memleak made for a proof: the copy is an orphan, too, and memleak traces it
 * by ptrace() as long as it exists.
 */
static bool is_copy(pid_t pid)
{
	cleanup_free char *status = NULL;
	pid_t tracer = proc_read(pid, "status", &status)
			       ? 0
			       : (pid_t)proc_status_number(status, "TracerPid");

	return tracer && program_of(tracer) == program_of(getpid());
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
	struct search search = {.list = list};

	read_list(list);
	search.own = find(list, pid);
	if (!search.own || !search.own->program)
		return;
	for (size_t i = 0; i < list->cnt; i++) {
		struct running_program *other = &list->items[i];

		if (other == search.own || other->program != search.own->program ||
		    is_traced(arg, other->pid))
			continue;
		if (is_traced(arg, relations_of(search.own)->parent))
			return;
		if (is_orphan(&search, other) && !is_copy(other->pid))
			add_orphan(other->pid, ret);
	}
}
