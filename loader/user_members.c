// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that are found by what they are, and those that come and go while tracing. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/map_events.h"
#include "loader/user_source_impl.h"

uint32_t user_members__number(struct user_source *source)
{
	return MEMLEAK_IMAGE_GIVEN | ++source->given_images;
}

/* So many images that are gone are not waited with until a report. */
#define PURGE_AT 256

static int targets_fd(const struct user_source *source)
{
	return bpf_map__fd(source->ctx.skel->maps.targets);
}

/* The programs may have found it first: then a record tells. */
static void add_member(struct user_source *source, const struct member *member)
{
	struct memleak_target target = {.image = user_members__number(source)}, known;
	uint32_t key = (uint32_t)member->pid;
	struct user_process *process;

	if (member->own) {
		target.image = 0;
		bpf_map_update_elem(targets_fd(source), &key, &target, BPF_ANY);
		return;
	}
	if (!bpf_map_lookup_elem(targets_fd(source), &key, &known) ||
	    user_process__new(&source->ctx, member->pid, true, &process))
		return;
	process->info.image = target.image;
	if (user_source__add(source, process))
		return;
	if (bpf_map_update_elem(targets_fd(source), &key, &target, BPF_NOEXIST)) {
		process->ended = true;
		user_members__remove(source, source->processes.cnt - 1);
		return;
	}
	if (user_process__attach(&source->ctx, process) == -EAGAIN)
		user_source__retry_soon(source);
}

int user_members__find(struct user_source *source, size_t *ret)
{
	cleanup_free struct member *members = NULL;
	size_t cnt = 0;
	int err = members_find(&source->members, &members, &cnt);

	/* Its own first: what they make meanwhile is its own, too. */
	for (size_t i = 0; i < cnt; i++)
		if (members[i].own)
			add_member(source, &members[i]);
	*ret = 0;
	for (size_t i = 0; i < cnt; i++) {
		if (members[i].own)
			continue;
		add_member(source, &members[i]);
		++*ret;
	}
	return err;
}

void user_members__describe(const struct user_source *source)
{
	const struct options *opts = source->ctx.opts;

	log_note("tracing %zu processes%s%s%s%s, and those that begin: %zu functions probed in %zu "
		 "files",
		 source->processes.cnt, opts->comm ? " named " : "", opts->comm ? opts->comm : "",
		 opts->cgroup ? " of cgroup " : "", opts->cgroup ? source->members.cgroup.path : "",
		 source->pool.probes.cnt, probe_pool_heaps(&source->pool));
}

/* What is told of a process that ended unheard of is not told of another one of its number. */
static void end_others(struct user_source *source, pid_t pid)
{
	struct user_process *process = process_table_find_pid(&source->processes, pid);

	if (process)
		process->ended = true;
}

/* Of a pid that another process may have by now. */
static bool is_target(const struct user_source *source, pid_t pid, uint32_t image)
{
	struct memleak_target target;
	uint32_t key = (uint32_t)pid;

	return !bpf_map_lookup_elem(targets_fd(source), &key, &target) && target.image == image;
}

/* One that has ended, or did so while it was looked at, is what was told of it. */
static int open_process(const struct user_source *source, const struct memleak_record *record,
			uint32_t image, const struct user_process *parent,
			struct user_process **ret)
{
	pid_t pid = (pid_t)record->tgid;
	int err = user_process__new(&source->ctx, pid, true, ret);

	if (err == -ENOMEM || err == -ENOEXEC)
		return err;
	if (!err && is_target(source, pid, image)) {
		(*ret)->since_ns = record->time_ns;
		return 0;
	}
	if (!err)
		user_process__free(*ret);
	return user_process__new_ended(&source->ctx, pid, record->time_ns, parent, ret);
}

/* One that ended before it was asked was where its parent is, or where it was before. */
static void keep_cgroup(struct user_process *process, const char *cgroup)
{
	if (!process->info.cgroup && cgroup)
		process->info.cgroup = strdup(cgroup);
}

/* Nobody knows what it was: what it held is lost. A 32-bit program has nothing that is probed. */
static void miss_process(struct user_source *source, const struct memleak_record *record,
			 uint32_t image, int err)
{
	uint32_t key = record->tgid;

	if (is_target(source, (pid_t)key, image))
		bpf_map_delete_elem(targets_fd(source), &key);
	user_members__drop(source, image);
	source->processes_lost += err != -ENOEXEC;
}

void user_members__new(struct user_source *source, const struct memleak_record *record,
		       uint32_t image, uint32_t base)
{
	const struct user_process *parent = user_source__process(source, base);
	bool heir = source->tracker.heirs && base && record->len;
	struct user_process *process;
	int err;

	end_others(source, (pid_t)record->tgid);
	if (heir && inheritance_fork(&source->heirs.inheritance, base, image, record->time_ns))
		source->heirs.lost++;
	err = open_process(source, record, image, parent, &process);
	if (err) {
		miss_process(source, record, image, err);
		return;
	}
	if (parent)
		keep_cgroup(process, parent->info.cgroup);
	process->info.image = image;
	process->base = base;
	if (parent)
		process->r_debug = parent->r_debug;
	if (parent && heir && ranges_inherit(&process->ranges, &parent->ranges, parent->info.image))
		process->mappings_lost++;
	process->after_exec = !base;
	if (user_source__add(source, process) || process->ended)
		return;
	if (user_process__attach(&source->ctx, process) == -EAGAIN)
		user_source__retry_soon(source);
}

/*
 * What one had mapped that ended early nobody has read yet. The kernel may still free what a given
 * one had: its pidfd tells when it has done so.
 */
void user_members__end(struct user_source *source, struct user_process *process, uint32_t unloads)
{
	process->left = true;
	process->unloads = unloads;
	process->ended = process->found || process->gone;
	if (!process->found || process->attached)
		return;
	user_process__refresh(&source->ctx, process);
	user_process__attach_ended(&source->ctx, process);
}

/* A record may be lost, or the program that sends it was not run by the kernel. */
void user_members__end_gone(struct user_source *source)
{
	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct user_process *process = source->processes.items[i];
		uint32_t key = (uint32_t)process->info.pid;
		struct memleak_target target = {0};

		if (!process->gone || process->ended)
			continue;
		bpf_map_lookup_elem(targets_fd(source), &key, &target);
		if (target.image == process->info.image)
			bpf_map_delete_elem(targets_fd(source), &key);
		user_members__end(source, process,
				  process->left ? process->unloads : target.unloads);
	}
}

/* What was lost stays lost. */
static void forget_process(struct user_source *source, size_t at)
{
	const struct user_process *process = source->processes.items[at];

	source->mappings_lost += process->mappings_lost;
	source->exec_gaps += process->exec_gaps;
	user_members__drop(source, process->info.image);
	process_table_remove(&source->processes, at);
}

void user_members__leave(struct user_source *source, struct user_process *process)
{
	for (size_t i = 0; i < source->processes.cnt; i++) {
		if (source->processes.items[i] != process)
			continue;
		unwind_maps_forget(&source->unwind, process->info.pid);
		forget_process(source, i);
		return;
	}
}

void user_members__exec(struct user_source *source, struct user_process *process,
			const struct memleak_record *record)
{
	cleanup_free char *cgroup = NULL;

	if (process && process->info.cgroup)
		cgroup = strdup(process->info.cgroup);
	if (process)
		user_members__leave(source, process);
	user_members__new(source, record, (uint32_t)record->addr, 0);
	process = user_source__process(source, (uint32_t)record->addr);
	if (process)
		keep_cgroup(process, cgroup);
}

void user_members__remove(struct user_source *source, size_t at)
{
	pid_t pid = source->processes.items[at]->info.pid;

	forget_process(source, at);
	if (process_table_find_pid(&source->processes, pid))
		return;
	unwind_maps_forget(&source->unwind, pid);
	reference_spaces_forget(&source->copies.reference, pid);
	if (source->ctx.map_events)
		map_events__forget(source->ctx.map_events, pid);
}

void user_members__drop(struct user_source *source, uint32_t image)
{
	/* Without memory for it, what is held stays, and takes up room. */
	image_set_add(&source->gone, image);
	if (source->gone.cnt >= source->purge_at)
		user_members__purge(source);
}

static bool is_base(const struct user_source *source, uint32_t image)
{
	for (size_t i = 0; i < source->processes.cnt; i++)
		if (source->processes.items[i]->base == image)
			return true;
	return false;
}

static bool is_there(void *arg, uint32_t image)
{
	return user_source__process(arg, image) != NULL;
}

int user_members__find_heirs(struct user_source *source)
{
	return inheritance_update(&source->heirs.inheritance, is_there, source);
}

/* What was told of an image may be used by the children of its process for long. */
static void drop_mappings(struct user_source *source)
{
	struct image_set kept = {0};

	for (size_t i = 0; i < source->mapped.cnt; i++) {
		uint32_t image = source->mapped.items[i];

		if (is_base(source, image))
			image_set_add(&kept, image);
		else
			unwind_maps_drop(&source->unwind, image);
	}
	image_set_deinit(&source->mapped);
	source->mapped = kept;
}

/* So may its blocks, if they inherit. */
void user_members__purge(struct user_source *source)
{
	struct image_set kept = {0}, purged = {0};

	if (!source->gone.cnt || user_members__find_heirs(source)) {
		drop_mappings(source);
		return;
	}
	for (size_t i = 0; i < source->gone.cnt; i++) {
		uint32_t image = source->gone.items[i];
		bool needed = inheritance_is_forebear(&source->heirs.inheritance, image);

		image_set_add(needed ? &kept : &purged, image);
		image_set_add(&source->mapped, image);
	}
	tracker_purge(&source->tracker, &purged);
	drop_mappings(source);
	image_set_deinit(&purged);
	image_set_deinit(&source->gone);
	source->gone = kept;
	source->purge_at = 2 * kept.cnt + PURGE_AT;
}
