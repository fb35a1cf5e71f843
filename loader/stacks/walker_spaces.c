// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends the code mappings of processes to libdwfl's helper. */
#include "loader/stacks/walker_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/vdso.h"
#include "loader/target/modules.h"
#include "loader/target/opened_files.h"

/*
 * Maximum time, in nanoseconds, for a walk or for sending a process's mappings (WALK_NS), and time
 * charged to the user after a failure (FAILURE_NS). The first walk through a file is slow, as it
 * reads the file's tables.
 */
#define WALK_NS 1000000000ULL
#define FAILURE_NS 10000000000ULL

void walker_spaces_deinit(struct walker_spaces *spaces)
{
	walker__free(spaces->walker);
	free(spaces->items);
	*spaces = (struct walker_spaces){0};
}

/*
 * Drops all mappings, since the helper is gone, and charges the user for the failure. The mappings
 * of other processes are sent again when one of their stacks is to be walked.
 */
static int fail(struct walker_spaces *spaces, uid_t uid, int err)
{
	/* After -EPIPE, charge less: the helper may have ended because of an earlier process. */
	uint64_t cost_ns = err == -EPIPE ? FAILURE_NS / 10 : FAILURE_NS;

	user_budgets_spend(spaces->budgets, uid, cost_ns, clock_ns(CLOCK_MONOTONIC));
	spaces->cnt = 0;
	if (!spaces->failed)
		log_note("libdwfl cannot walk all stacks: its helper failed on stacks of user %u "
			 "(%s)",
			 uid, strerror(-err));
	spaces->failed = true;
	return err;
}

const struct walker_code_space *walker_spaces_find(struct walker_spaces *spaces,
						   uint32_t generation)
{
	for (size_t i = spaces->cnt; i; i--) {
		struct walker_code_space *space = &spaces->items[i - 1];

		if (space->generation == generation) {
			space->used = true;
			return space;
		}
	}
	return NULL;
}

/*
 * Returns the nearest address, at or below a mapping, at which the start of its file is mapped; 0
 * if there is none. Must be called for all mappings in order of address. starts: for each file, the
 * last such address.
 */
static uint64_t find_headers(struct opened_files *starts, const struct mapping *mapping)
{
	ssize_t *start = mapping->file.ino ? opened_files_result(starts, mapping) : NULL;

	if (start && !mapping->offset)
		*start = (ssize_t)mapping->start;
	return start && *start >= 0 ? (uint64_t)*start : 0;
}

static int send_mapping(struct walker_spaces *spaces, const struct walker_subject *subject,
			const struct mapping *mapping, uint64_t headers, uint64_t deadline_ns)
{
	const struct walker_code code = {
		.start = mapping->start,
		.offset = mapping->offset,
		.headers = headers,
	};
	cleanup_close int fd = -1;
	struct stat st;

	if (!mapping->executable)
		return 0;
	if (!strcmp(mapping->path, "[vdso]")) {
		fd = vdso_copy();
	} else if (mapping->file.ino) {
		fd = process_open_mapping(subject->pid, mapping);
		if (fd < 0)
			fd = mapped_file_open(mapping, &st);
	}
	if (fd < 0)
		return 0; /* the code has no file, or its file cannot be opened */
	return walker__add_code(spaces->walker, subject->generation, fd, &code, deadline_ns);
}

void walker_spaces_forget(struct walker_spaces *spaces, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < spaces->cnt; i++)
		if (spaces->items[i].pid == pid)
			walker__close(spaces->walker, spaces->items[i].generation);
		else
			spaces->items[kept++] = spaces->items[i];
	spaces->cnt = kept;
}

void walker_spaces_drop_unused(struct walker_spaces *spaces)
{
	size_t kept = 0;

	for (size_t i = 0; i < spaces->cnt; i++) {
		struct walker_code_space *space = &spaces->items[i];

		if (space->used) {
			space->used = false;
			spaces->items[kept++] = *space;
		} else {
			walker__close(spaces->walker, space->generation);
		}
	}
	spaces->cnt = kept;
}

static int send_space(struct walker_spaces *spaces, const struct walker_subject *subject,
		      const struct proc_maps *maps)
{
	uint64_t deadline_ns = clock_deadline_ns(WALK_NS);
	int err = walker__open(spaces->walker, subject->generation, deadline_ns);
	struct opened_files starts = {0};

	for_each_mapping (mapping, maps) {
		uint64_t headers = find_headers(&starts, mapping);

		if (!err)
			err = send_mapping(spaces, subject, mapping, headers, deadline_ns);
	}
	opened_files_deinit(&starts);
	return err;
}

static int add_space(struct walker_spaces *spaces, const struct walker_subject *subject)
{
	struct proc_maps maps;
	int err;

	if (subject->read_maps(subject->arg, &maps))
		return 0;
	err = array_reserve(&spaces->items, &spaces->cap, spaces->cnt + 1);
	if (!err) {
		spaces->items[spaces->cnt++] = (struct walker_code_space){
			subject->pid, subject->uid, subject->generation, true};
		err = send_space(spaces, subject, &maps);
	}
	proc_maps_deinit(&maps);
	return err;
}

int walker_spaces_add(struct walker_spaces *spaces, const struct walker_subject *subject)
{
	int err = 0;

	if (!subject->generation || walker_spaces_find(spaces, subject->generation))
		return 0;
	if (!user_budgets_has_time(spaces->budgets, subject->uid, clock_ns(CLOCK_MONOTONIC)))
		return -ETIMEDOUT;
	walker_spaces_forget(spaces, subject->pid);
	if (!spaces->walker)
		err = walker__new(&spaces->walker);
	if (!err)
		err = add_space(spaces, subject);
	return err ? fail(spaces, subject->uid, err) : 0;
}

int walker_spaces_walk(struct walker_spaces *spaces, const struct walker_code_space *space,
		       const struct unwind_copy *copy, struct walker_stack *ret)
{
	uid_t uid = space->uid;
	int err = walker__walk(spaces->walker, space->generation, copy, clock_deadline_ns(WALK_NS),
			       ret);

	return err ? fail(spaces, uid, err) : 0;
}
