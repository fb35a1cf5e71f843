// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots of the user source: the tracker's tables, and the mappings that the loader keeps. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "bpf/summary.h"
#include "loader/user_source_impl.h"

bool user_snapshot__owner(void *arg, uint32_t image, struct tracker_owner *ret)
{
	const struct user_process *process = user_source__process(arg, image);

	if (!process)
		return false;
	*ret = (struct tracker_owner){.process = &process->info, .ended = process->ended};
	return true;
}

bool user_snapshot__settle(void *arg, uint32_t image, struct memleak_stack *stack)
{
	const struct user_source *source = arg;

	return code_history_settle(&source->unwind.history, image, stack);
}

static int walk_mappings(struct tracker_walk *walk, const struct user_process *process)
{
	const struct tracker_owner owner = {.process = &process->info, .ended = process->ended};

	for (size_t i = 0; i < process->ranges.cnt; i++) {
		const struct range *range = &process->ranges.items[i];
		struct block plain = {
			.addr = range->start,
			.size = range->end - range->start,
			.sampled_size = range->mapped_size,
			.tid = range->tid,
		};
		int err = (range->heir_of ? tracker_walk_inherit : tracker_walk_add)(
			walk, &owner, range->site, &plain, range->birth_ns);

		if (err)
			return err;
	}
	return 0;
}

/* The programs go on while sums are read one after the other: a block may be in one alone. */
static void fill_summary(const struct memleak_summary *sums, struct process_summary *ret)
{
	ret->allocated = sums->allocated;
	ret->outstanding = sums->outstanding;
	if (ret->outstanding > ret->allocated)
		ret->outstanding = ret->allocated;
	ret->freed = ret->allocated - ret->outstanding;
	ret->peak = sums->peak;
	ret->largest = sums->largest;
	for (size_t i = 0; i < MEMLEAK_SHAPE_CNT; i++) {
		ret->calls_of[shape_plain(i)] += sums->calls[i];
		ret->calls += sums->calls[i];
	}
}

static int take_summaries(const struct user_source *source, struct snapshot *snap)
{
	snap->summaries = calloc(source->processes.cnt + 1, sizeof(*snap->summaries));
	if (!snap->summaries)
		return -ENOMEM;
	for (size_t i = 0; i < source->processes.cnt; i++) {
		const struct process *process = &source->processes.items[i]->info;
		struct memleak_summary sums = {0};

		/* One that has called nothing yet has none. */
		if (bpf_map_lookup_elem(source->tracker.summaries_fd, &process->image, &sums) &&
		    errno != ENOENT)
			return -errno;
		snap->summaries[i].process = process;
		fill_summary(&sums, &snap->summaries[i]);
	}
	snap->summary_cnt = source->processes.cnt;
	return 0;
}

/* So few as a rule that the order matters little. */
static int take_losses(const struct user_source *source, struct snapshot *snap)
{
	snap->losses = calloc(source->processes.cnt + 1, sizeof(*snap->losses));
	if (!snap->losses)
		return -ENOMEM;
	for (size_t i = 0; i < source->processes.cnt; i++) {
		const struct process *process = &source->processes.items[i]->info;
		uint64_t refused = shares_refused(&source->tracker.shares, process->image);

		if (refused)
			snap->losses[snap->loss_cnt++] = (struct process_loss){process, refused};
	}
	return 0;
}

int user_snapshot__take(struct user_source *source, struct snapshot *ret)
{
	struct tracker_walk walk;
	struct snapshot snap;
	int err = user_members__find_heirs(source);

	if (err)
		return err;
	err = tracker_walk_begin(&source->tracker, &walk, &snap);

	for (size_t i = 0; !err && i < source->processes.cnt; i++)
		err = walk_mappings(&walk, source->processes.items[i]);
	stack_copies_drain(&source->copies);
	user_records__finish_stacks(source, SIZE_MAX);
	unwind_late_go_on(&source->copies.late);
	/* After the stacks were made that are settled by it, before anything is named. */
	for (size_t i = 0; i < source->processes.cnt; i++)
		if (!source->processes.items[i]->found)
			user_process__refresh(&source->ctx, source->processes.items[i]);
	if (!err && source->tracker.opts->summary)
		err = take_summaries(source, &snap);
	if (!err)
		err = take_losses(source, &snap);
	err = tracker_walk_end(&walk, err, &snap);
	if (err)
		return err;
	snap.lost[MEMLEAK_LOST_MAPPINGS] += source->mappings_lost;
	snap.lost[MEMLEAK_LOST_EXEC] += source->exec_gaps;
	snap.lost[MEMLEAK_LOST_PROCESSES] += source->processes_lost;
	snap.lost[MEMLEAK_LOST_INHERITED] += source->heirs.lost;
	for (size_t i = 0; i < source->processes.cnt; i++) {
		snap.lost[MEMLEAK_LOST_MAPPINGS] += source->processes.items[i]->mappings_lost;
		snap.lost[MEMLEAK_LOST_EXEC] += source->processes.items[i]->exec_gaps;
	}
	snap.lost[MEMLEAK_LOST_UNWIND] += source->copies.late.cut;
	*ret = snap;
	return 0;
}
