// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks for the source line of each frame of the sites whose files memleak sees by the same names.
 */
#include "app/source_texts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "report/frame_walk.h"

/* Maximum time that a report waits for source lines, in nanoseconds. */
#define WAIT_NS UINT64_C(500000000)

/* Source files that may be read for a process. */
enum owner {
	OWNER_UNKNOWN,  /* the process is not known yet */
	OWNER_NO_FILES, /* none: the process sees other files under the same names */
	OWNER_EVERYONE, /* only files that everyone can read */
	OWNER_USER,     /* plus the user's uid: also files of this user */
};

static void *value_of(uint64_t owner)
{
	return (void *)(uintptr_t)owner;
}

static uint64_t owner_at(const struct source_texts *texts, uint64_t image)
{
	return (uintptr_t)hash_map_get(&texts->owners, image);
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat one, two;

	return !stat(path, &one) && !stat(other, &two) && one.st_dev == two.st_dev &&
	       one.st_ino == two.st_ino;
}

/* True if a process has memleak's mount namespace and root folder. */
static bool sees_same_files(pid_t pid)
{
	char mounts[64], root[64];

	snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", pid);
	snprintf(root, sizeof(root), "/proc/%d/root/", pid);
	return is_same_file(mounts, "/proc/self/ns/mnt") && is_same_file(root, "/");
}

/*
 * Returns the owner of the source files of a running process: its user, or OWNER_EVERYONE if its
 * user ids differ.
 */
static uint64_t owner_by_uids(const char *status)
{
	const char *field = proc_status_field(status, "Uid");
	unsigned int real, effective, saved, of_files;

	if (!field || sscanf(field, "%u %u %u %u", &real, &effective, &saved, &of_files) != 4 ||
	    real != effective || real != saved || real != of_files)
		return OWNER_EVERYONE;
	return OWNER_USER + (uint64_t)real;
}

/*
 * Returns the owner of the source files of a process. If the process changes its user, the owner is
 * OWNER_EVERYONE from then on: the process may have become less trustworthy.
 */
static uint64_t owner_of(struct source_texts *texts, const struct process *process)
{
	uint64_t before = owner_at(texts, process->image), now;
	cleanup_free char *status = NULL;

	if (proc_read(process->pid, "status", &status))
		return before;
	now = !sees_same_files(process->pid) ? OWNER_NO_FILES : owner_by_uids(status);
	if (before >= OWNER_USER && now >= OWNER_USER && before != now)
		now = OWNER_EVERYONE;
	else if (before != OWNER_UNKNOWN && before < now)
		now = before;
	/* Without memory, the process is looked up again. */
	hash_map_set(&texts->owners, process->image, value_of(now));
	return now;
}

static void ask(struct source_lines *lines, const struct report_site *shown)
{
	struct frame_walk walk;

	frame_walk_begin(&walk, shown);
	while (frame_walk_next(&walk)) {
		unsigned int line;
		cleanup_free char *file = frame_file(walk.frame, &line);

		if (file)
			source_lines__ask(lines, shown->source_uid, file, line);
	}
}

void source_texts_add(struct source_texts *texts, struct report *report)
{
	const struct process *process = NULL;
	uint64_t owner = OWNER_NO_FILES;

	for (size_t i = 0; i < report->site_cnt; i++) {
		struct report_site *shown = &report->sites[i];

		if (shown->site->process && shown->site->process != process) {
			process = shown->site->process;
			owner = owner_of(texts, process);
		}
		shown->has_source = shown->site->process && owner > OWNER_NO_FILES;
		shown->source_uid = owner < OWNER_USER ? (uid_t)-1 : (uid_t)(owner - OWNER_USER);
		if (shown->has_source)
			ask(texts->lines, shown);
	}
	source_lines__read(texts->lines, clock_ns(CLOCK_MONOTONIC) + WAIT_NS);
	report->source = texts->lines;
}

void source_texts_deinit(struct source_texts *texts)
{
	source_lines__free(texts->lines);
	hash_map_deinit(&texts->owners);
	texts->lines = NULL;
}
