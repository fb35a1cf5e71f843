// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Combines the accounts of parents and children, to find inherited blocks with
 * loader/tables/inheritance.
 */
#include "loader/agent/lineage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/clock.h"

struct images {
	struct agent_process *const *items;
	uint32_t image;
};

static bool is_below(const void *arg, size_t at)
{
	const struct images *images = arg;

	return images->items[at]->info.image < images->image;
}

static size_t index_of(const struct agent_processes *processes, uint32_t image)
{
	const struct images images = {processes->items, image};

	return bisect(processes->cnt, is_below, &images);
}

struct agent_process *agent_processes_find(const struct agent_processes *processes, uint32_t image)
{
	size_t at = index_of(processes, image);
	bool found = at < processes->cnt && processes->items[at]->info.image == image;

	return found ? processes->items[at] : NULL;
}

struct agent_process *lineage_find(const struct lineage *lineage,
				   const struct agent_processes *processes, uint32_t image)
{
	struct agent_process *process = agent_processes_find(processes, image);

	return process ? process : agent_processes_find(&lineage->kept, image);
}

void lineage_deinit(struct lineage *lineage)
{
	for (size_t i = 0; i < lineage->kept.cnt; i++)
		agent_process__free(lineage->kept.items[i]);
	free(lineage->kept.items);
	inheritance_deinit(&lineage->inheritance);
}

/*
 * Finds the parent's account by pid and start time. The pid alone could be that of another process.
 */
static struct agent_process *find_parent(const struct agent_processes *processes,
					 const struct account_view *child)
{
	for (size_t i = processes->cnt; i-- > 0;) {
		const struct account_view *view = &processes->items[i]->view;

		if (view->pid == child->parent_pid && view->began_ns == child->parent_began_ns)
			return processes->items[i];
	}
	return NULL;
}

/* Gives a child its parent's mappings, after applying the parent's pending events. */
static int inherit_mappings(struct lineage *lineage, struct agent_process *parent,
			    struct agent_process *child)
{
	int err = parent ? agent_process__take_events(parent) : 0;

	if (!err)
		err = parent ? heritage_claim(&parent->heritage, child->view.forked_ns,
					      parent->info.image, &child->ranges)
			     : -ENOENT;
	if (err && err != -ENOENT)
		return err;
	/*
	 * A thread of the parent may still be writing an event that precedes the fork, so try again
	 * later. Meanwhile the child's own events are not applied. An ended parent writes no more
	 * events, so do not wait for it.
	 */
	if (err && parent && !parent->ended &&
	    clock_ns(CLOCK_MONOTONIC) < child->view.forked_ns + LINEAGE_ARRIVAL_NS)
		return 0;
	lineage->mappings_lost += err != 0;
	child->awaited_parent = 0;
	return 0;
}

int lineage_retry_mappings(struct lineage *lineage, const struct agent_processes *processes)
{
	int err = 0;

	for (size_t i = 0; !err && i < processes->cnt; i++) {
		struct agent_process *child = processes->items[i];

		if (child->awaited_parent)
			err = inherit_mappings(
				lineage, lineage_find(lineage, processes, child->awaited_parent),
				child);
	}
	return err;
}

static int inherit(struct lineage *lineage, struct agent_process *parent,
		   struct agent_process *child)
{
	int err = inheritance_fork(&lineage->inheritance, parent->info.image, child->info.image,
				   child->view.forked_ns);

	parent->heritage.arrived_cnt++;
	child->awaited_parent = parent->info.image;
	if (!err)
		err = agent_process__name_after(child, parent);
	return err ? err : inherit_mappings(lineage, parent, child);
}

int lineage_add(struct lineage *lineage, const struct agent_processes *processes,
		struct agent_process *child)
{
	struct agent_process *parent;

	if (!child->view.forked_ns)
		return 0;
	parent = find_parent(processes, &child->view);
	if (!parent)
		parent = find_parent(&lineage->kept, &child->view);
	if (parent)
		return inherit(lineage, parent, child);
	lineage->lost++;
	return 0;
}

static bool is_living(void *arg, uint32_t image)
{
	const struct agent_process *process = agent_processes_find(arg, image);

	return process && !process->replaced;
}

static int update(struct lineage *lineage, const struct agent_processes *processes)
{
	return inheritance_update(&lineage->inheritance, is_living, (void *)processes);
}

struct lineage_walk {
	struct lineage *lineage;
	const struct agent_processes *processes;
	const struct ancestry *ancestry;
	struct block_walk *walk;
	uint32_t image; /* exec image number of the process being read */
};

static int add_block(void *arg, const struct account_block *found)
{
	const struct lineage_walk *at = arg;
	const struct inherited_block block = {
		.image = at->image,
		.tid = (pid_t)found->tid,
		.addr = found->addr,
		.size = found->size,
		.site = found->stack | (found->is_sample ? ACCOUNT_RANGE_SAMPLE : 0),
		.birth_ns = found->birth_ns,
		.freed_ns = NEVER_NS,
	};
	int skips = block_walk_skips(at->walk);

	if (skips)
		return skips < 0 ? skips : 0;
	return inheritance_add(&at->lineage->inheritance, &block);
}

static int share_block(void *arg, uint32_t image, const struct inherited_block *block)
{
	struct lineage_walk *at = arg;
	struct agent_process *process = agent_processes_find(at->processes, image);

	if (!process || process->replaced)
		return 0;
	return agent_process__inherit(process, at->ancestry, block, at->walk);
}

static int add_present(struct lineage_walk *at, const struct agent_processes *processes)
{
	int err = 0;

	for (size_t i = 0; !err && i < processes->cnt; i++) {
		at->image = processes->items[i]->info.image;
		if (inheritance_is_ancestor(&at->lineage->inheritance, at->image))
			err = account_view_blocks(&processes->items[i]->view, add_block, at);
	}
	return err;
}

static int add_freed_blocks(struct inheritance *inheritance,
			    const struct agent_processes *processes, uint64_t since_ns)
{
	int err = 0;

	for (size_t i = 0; !err && i < processes->cnt; i++) {
		struct agent_process *process = processes->items[i];

		err = agent_process__take_events(process);
		if (!err)
			err = heritage_walk(&process->heritage, inheritance, since_ns);
		if (!err)
			err = heritage_walk_freed(&process->heritage, inheritance);
	}
	return err;
}

/*
 * Reads the blocks of all accounts first, then the events. In the opposite order, a block that is
 * freed in between would be missed.
 */
int lineage_walk(struct lineage *lineage, const struct agent_processes *processes,
		 const struct ancestry *ancestry, struct block_walk *walk)
{
	struct lineage_walk at = {lineage, processes, ancestry, walk, 0};
	struct inheritance *inheritance = &lineage->inheritance;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t since_ns = now_ns > LINEAGE_ARRIVAL_NS ? now_ns - LINEAGE_ARRIVAL_NS : 0;
	int err = update(lineage, processes);

	inheritance_begin(inheritance);
	if (!err)
		err = add_present(&at, processes);
	if (!err)
		err = add_present(&at, &lineage->kept);
	if (!err)
		err = add_freed_blocks(inheritance, processes, since_ns);
	if (!err)
		err = add_freed_blocks(inheritance, &lineage->kept, since_ns);
	return err ? err : inheritance_share(inheritance, share_block, &at);
}

int lineage_keep(struct lineage *lineage, struct agent_process *process)
{
	struct agent_processes *kept_processes = &lineage->kept;
	size_t at = index_of(kept_processes, process->info.image);

	if (array_reserve(&kept_processes->items, &kept_processes->cap, kept_processes->cnt + 1))
		return -ENOMEM;
	array_open(kept_processes->items, kept_processes->cnt, at);
	kept_processes->items[at] = process;
	kept_processes->cnt++;
	/* The cached sites of an ended process are not used any more. */
	hash_map_deinit(&process->sites);
	process->sites = (struct hash_map){0};
	return 0;
}

int lineage_sweep(struct lineage *lineage, const struct agent_processes *processes)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct agent_processes *kept_processes = &lineage->kept;
	int err = update(lineage, processes);
	size_t kept = 0;

	for (size_t i = 0; !err && i < kept_processes->cnt; i++) {
		struct agent_process *process = kept_processes->items[i];

		if (inheritance_is_ancestor(&lineage->inheritance, process->info.image) ||
		    heritage_is_awaited(&process->heritage, now_ns - LINEAGE_ARRIVAL_NS))
			kept_processes->items[kept++] = process;
		else
			agent_process__free(process);
	}
	if (!err)
		kept_processes->cnt = kept;
	return err;
}
