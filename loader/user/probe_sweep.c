// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds probed files that no traced process maps any longer, and removes their probes. */
#include "loader/user/probe_sweep.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc_maps.h"
#include "base/test_knobs.h"
#include "loader/target/modules.h"
#include "loader/target/opened_files.h"

/*
 * Interval between sweep rounds in milliseconds, and number of rounds after which unused probes are
 * removed. Probes are kept for several rounds because a program that is soon started again would
 * run unprobed until new probes are placed, and because the mappings of a process may be unreadable
 * in one round.
 */
#define ROUND_MS 300000
#define ROUNDS 3

/*
 * Time in nanoseconds. If no traced process maps any file of a file system for this time, the
 * probes in files of that file system are removed.
 */
#define SYSTEM_NS 5000000000ULL

static uint64_t round_ns(void)
{
	const char *forced = test_knob(TEST_KNOB_POOL_ROUND_MS);

	return (forced ? strtoull(forced, NULL, 10) : ROUND_MS) * 1000000;
}

/* True if the error means that the process or file is gone, or that the file is not regular. */
static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENOEXEC;
}

/*
 * Marks as used all probed files that a process maps. If a negative errno is returned, some of
 * these files may not be marked.
 */
static int find_mapped(struct shared_probes *shared, pid_t pid)
{
	struct opened_files opened = {0};
	struct proc_maps maps;
	int err = proc_maps_read(pid, &maps);

	if (err)
		return is_gone(err) ? 0 : err;
	for_each_mapping (mapping, &maps) {
		cleanup_close int fd = -1;
		ssize_t *result;

		if (!mapping->executable || !mapping->file.ino)
			continue;
		result = opened_files_result(&opened, mapping);
		if (result && *result != -ENOENT)
			continue;
		fd = process_open_mapping(pid, mapping);
		if (fd >= 0)
			shared_probes_find(shared, fd);
		else if (!is_gone(fd))
			err = fd;
		if (result)
			*result = fd;
	}
	opened_files_deinit(&opened);
	proc_maps_deinit(&maps);
	return err;
}

static void find_used(struct process_set *set)
{
	struct shared_probes *shared = &set->programs->shared;
	int err = 0;

	shared_probes_begin_round(shared);
	for (size_t i = 0; !err && i < set->table.cnt; i++)
		if (!set->table.items[i]->ended)
			err = find_mapped(shared, set->table.items[i]->info.pid);
	if (err)
		shared_probes_use_all(shared);
}

static bool is_mapped_system(void *arg, dev_t dev)
{
	const struct process_set *set = arg;

	for (size_t i = 0; i < set->table.cnt; i++) {
		const struct user_process *process = set->table.items[i];

		if (!process->ended && symspace__maps_system(process->space, dev))
			return true;
	}
	return false;
}

void probe_sweep_run(struct probe_sweep *sweep, struct process_set *set)
{
	enum link_kind kind = set->programs->ctx.programs.kind;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/*
	 * Remove only probes of uprobe_multi links (LINK_SESSION, LINK_MULTI). With other kinds of
	 * links, removing one probe takes 0.1 s, which would delay the probing of new processes.
	 */
	if (!set->programs->ctx.shared || (kind != LINK_SESSION && kind != LINK_MULTI))
		return;
	if (now_ns - sweep->last_ns >= round_ns()) {
		sweep->last_ns = now_ns;
		find_used(set);
	}
	shared_probes_note_systems(&set->programs->shared, now_ns, is_mapped_system, set);
	if (shared_probes_drop_unused(&set->programs->shared, ROUNDS, now_ns - SYSTEM_NS))
		log_verbose("removed the probes of a file that no traced process maps any more");
}
