// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out which of the probed files nobody maps any more. */
#include <errno.h>
#include <stdlib.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "loader/user_source_impl.h"
#include "symbolizer/proc_maps.h"

/*
 * A program that comes back soon should find its probes: what it allocates before they are placed
 * again is not seen. Whoever was not known to map a file in one round is in the next.
 */
#define ROUND_MS 300000
#define ROUNDS 3

static uint64_t round_ns(void)
{
	const char *forced = getenv("MEMLEAK_POOL_ROUND_MS"); /* for tests */

	return (forced ? strtoull(forced, NULL, 10) : ROUND_MS) * 1000000;
}

/* What has gone meanwhile, and what is no file, is not used. */
static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH || err == -ENOEXEC;
}

/* Returns 0 or a negative errno: it may map more. */
static int find_mapped(struct probe_pool *pool, pid_t pid)
{
	struct proc_maps maps;
	int err = proc_maps_read(pid, &maps);

	if (err)
		return is_gone(err) ? 0 : err;
	for_each_mapping (mapping, &maps) {
		cleanup_close int fd = -1;

		if (!mapping->executable || !mapping->inode)
			continue;
		fd = process_open_mapping(pid, mapping);
		if (fd >= 0)
			probe_pool_find(pool, fd);
		else if (!is_gone(fd))
			err = fd;
	}
	proc_maps_deinit(&maps);
	return err;
}

static void find_used(struct user_source *source)
{
	int err = 0;

	probe_pool_age(&source->pool);
	for (size_t i = 0; !err && i < source->processes.cnt; i++)
		if (!source->processes.items[i]->ended)
			err = find_mapped(&source->pool, source->processes.items[i]->info.pid);
	if (err)
		probe_pool_use_all(&source->pool);
}

void user_pool__sweep(struct user_source *source)
{
	enum link_kind kind = source->ctx.programs.kind;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/* The others take a tenth of a second for each probe, in which nobody new is looked at. */
	if (kind != LINK_SESSION && kind != LINK_MULTI)
		return;
	if (now_ns - source->pool_swept_ns >= round_ns()) {
		source->pool_swept_ns = now_ns;
		find_used(source);
	}
	if (probe_pool_drop_unused(&source->pool, ROUNDS))
		log_verbose(
			"the probes of a file that no traced process maps any more are removed");
}
