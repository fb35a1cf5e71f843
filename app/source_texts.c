// SPDX-License-Identifier: GPL-2.0-or-later
/* Asks for the source line of each frame of the sites whose files memleak sees by the same names.
 */
#include "app/source_texts.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "report/frame_walk.h"

/* Maximum time that a report waits for source lines, in nanoseconds. */
#define WAIT_NS UINT64_C(500000000)

/* The user of several processes; -1 if they have several users. */
struct common_user {
	uid_t uid;
	bool any;
};

/* True if a process has memleak's root folder. Then sets its user. */
static bool shares_root(pid_t pid, uid_t *ret)
{
	char path[64];
	struct stat own, root, process;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (stat(path, &process) || stat("/", &own))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/root/", pid);
	*ret = process.st_uid;
	return !stat(path, &root) && root.st_dev == own.st_dev && root.st_ino == own.st_ino;
}

/* Returns the value that stands for a user; uid is -1 if no files of the process may be read. */
static void *user_value(uid_t uid)
{
	return (void *)((uintptr_t)uid + 1);
}

/* Returns the user of a process; -1 if none of the files that the process names may be read. */
static uid_t user_of(struct source_texts *texts, const struct process *process)
{
	void *value = process ? hash_map_get(&texts->users, process->image) : user_value(-1);
	uid_t uid = -1;

	if (value)
		return (uid_t)((uintptr_t)value - 1);
	if (!shares_root(process->pid, &uid))
		uid = -1;
	/* Without memory, the process is looked up again. */
	hash_map_set(&texts->users, process->image, user_value(uid));
	return uid;
}

static void ask(struct source_lines *lines, const struct report_site *shown)
{
	struct frame_walk walk;

	frame_walk_begin(&walk, shown);
	while (frame_walk_next(&walk)) {
		unsigned int line;
		cleanup_free char *file = frame_file(walk.frame, &line);

		if (file)
			source_lines__ask(lines, file, line);
	}
}

void source_texts_add(struct source_texts *texts, struct report *report)
{
	struct common_user user = {.uid = (uid_t)-1};

	for (size_t i = 0; i < report->site_cnt; i++) {
		struct report_site *shown = &report->sites[i];
		uid_t uid = user_of(texts, shown->site->process);

		shown->has_source = uid != (uid_t)-1;
		if (!shown->has_source)
			continue;
		user.uid = !user.any || user.uid == uid ? uid : (uid_t)-1;
		user.any = true;
		ask(texts->lines, shown);
	}
	source_lines__read(texts->lines, user.uid, clock_ns(CLOCK_MONOTONIC) + WAIT_NS);
	report->source = texts->lines;
}

void source_texts_deinit(struct source_texts *texts)
{
	source_lines__free(texts->lines);
	hash_map_deinit(&texts->users);
	texts->lines = NULL;
}
