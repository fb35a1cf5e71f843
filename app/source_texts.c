// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests the source lines of a report's frames. Skips the sites of processes for which the same
 * paths name other files than for memleak.
 */
#include "app/source_texts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "report/frame_walk.h"

/* Maximum time in nanoseconds that a report waits for source lines. */
#define WAIT_NS UINT64_C(500000000)

/* Which source files may be read for a process. */
enum owner {
	OWNER_UNKNOWN, /* the process is not known yet */
	/* none: for the process, the same paths name other files than for memleak */
	OWNER_NO_FILES,
	OWNER_EVERYONE, /* only files that everyone can read */
	/* OWNER_USER + uid: files that everyone can read, and files of the user with this uid */
	OWNER_USER,
};

static void *value_of(uint64_t owner)
{
	return (void *)(uintptr_t)owner;
}

static uint64_t owner_at(const struct source_texts *texts, uint64_t image)
{
	return (uintptr_t)hash_map_get(&texts->owners, image);
}

/* True if a process has memleak's mount namespace and root directory. */
static bool sees_same_files(pid_t pid)
{
	return proc_has_own_namespace(pid, -1, "mnt") && proc_has_own_root(pid);
}

/*
 * Returns whose source files may be read for a running process: those of its user, or
 * OWNER_EVERYONE if its real, effective, saved and file-system uids are not all equal.
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
 * Returns the owner of the source files of a process (enum owner). If the process changes its user,
 * the owner is OWNER_EVERYONE from then on: the process may have become less trustworthy.
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
	/* If this fails for lack of memory, the process counts as unknown in the next report. */
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
