// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots of the user source: the tracker's tables, and the mappings that the loader keeps. */
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
		int err = tracker_walk_add(walk, &owner, range->site, &plain, range->birth_ns);

		if (err)
			return err;
	}
	return 0;
}

int user_snapshot__take(struct user_source *source, struct snapshot *ret)
{
	struct tracker_walk walk;
	struct snapshot snap;
	int err = tracker_walk_begin(&source->tracker, &walk, &snap);

	for (size_t i = 0; !err && i < source->process_cnt; i++)
		err = walk_mappings(&walk, source->processes[i]);
	stack_copies_drain(&source->copies);
	user_records__finish_stacks(source, SIZE_MAX);
	unwind_late_go_on(&source->copies.late);
	/* After the stacks were made that are settled by it, before anything is named. */
	for (size_t i = 0; i < source->process_cnt; i++)
		user_process__refresh(&source->ctx, source->processes[i]);
	err = tracker_walk_end(&walk, err, &snap);
	if (err)
		return err;
	for (size_t i = 0; i < source->process_cnt; i++) {
		snap.lost[MEMLEAK_LOST_MAPPINGS] += source->processes[i]->mappings_lost;
		snap.lost[MEMLEAK_LOST_EXEC] += source->processes[i]->exec_gaps;
	}
	snap.lost[MEMLEAK_LOST_UNWIND] += source->copies.late.cut;
	*ret = snap;
	return 0;
}
