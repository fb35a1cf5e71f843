// SPDX-License-Identifier: GPL-2.0-or-later
/* --peak: copies the block tables when the BPF programs report that a copy is due. */
#include "loader/user/peak.h"

#include <errno.h>

#include "base/clock.h"
#include "loader/user/snapshot.h"

static volatile struct memleak_peak_watch *watch_of(const struct user_peak *peak)
{
	return (volatile struct memleak_peak_watch *)&peak->set->programs->ctx.skel->bss
		->peak_watch;
}

static uint64_t mapped_bytes(const struct process_set *set)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < set->table.cnt; i++) {
		const struct ranges *ranges = &set->table.items[i]->ranges;

		for (size_t j = 0; j < ranges->cnt; j++)
			if (range_kind(ranges, &ranges->items[j]) == MEMLEAK_KIND_MMAP)
				bytes += ranges->items[j].end - ranges->items[j].start;
	}
	return bytes;
}

/*
 * Corrects the BPF programs' total of outstanding bytes: adds mappings and subtracts purged blocks,
 * because the BPF programs see neither.
 */
static void add_unseen(struct user_peak *peak)
{
	volatile struct memleak_peak_watch *watch = watch_of(peak);
	uint64_t mapped = mapped_bytes(peak->set),
		 purged = peak->set->programs->tracker.purged_bytes, total;

	total = __atomic_add_fetch(&watch->total, mapped - peak->mapped - (purged - peak->purged),
				   __ATOMIC_RELAXED);
	peak->mapped = mapped;
	peak->purged = purged;
	if ((int64_t)total > (int64_t)watch->highest)
		watch->highest = total;
}

static int take(struct user_peak *peak)
{
	volatile struct memleak_peak_watch *watch = watch_of(peak);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct tracker *tracker = &peak->set->programs->tracker;
	struct snapshot snap;
	int err;

	tracker->walker.any_age = true;
	err = user_snapshot_read(peak->set, begin_ns, NULL, &snap);
	tracker->walker.any_age = false;
	/* A termination signal is pending: the last report takes another copy if it is larger. */
	if (err == -EINTR)
		return 0;
	if (err)
		return err;
	err = stack_table_evict(&tracker->stacks, &tracker->recent);
	if (err) {
		snapshot_deinit(&snap);
		return err;
	}
	deferred_stacks_go_on(&peak->set->programs->deferred);
	watch->limit = peak_copies_keep(&peak->copies, &snap, begin_ns, watch->highest);
	watch->is_sent = 0;
	/*
	 * If the total is already above the limit, check again soon, because the BPF programs may
	 * send no more records.
	 */
	if ((int64_t)watch->total >= (int64_t)watch->limit)
		process_set_retry_soon(peak->set);
	return 0;
}

int user_peak_watch(struct user_peak *peak)
{
	const volatile struct memleak_peak_watch *watch = watch_of(peak);

	if (!peak->set->programs->ctx.opts->peak || !peak->set->programs->ctx.skel->bss->tracking)
		return 0;
	add_unseen(peak);
	if ((int64_t)watch->total <= 0 || watch->total < watch->limit)
		return 0;
	if (clock_ns(CLOCK_MONOTONIC) >= peak->copies.not_before_ns)
		return take(peak);
	process_set_retry_soon(peak->set);
	return 0;
}

int user_peak_report(struct user_peak *peak)
{
	const volatile struct memleak_peak_watch *watch = watch_of(peak);
	struct peak *kept = &peak->copies.kept;
	int err = 0;

	add_unseen(peak);
	if ((int64_t)watch->total > (int64_t)kept->bytes)
		err = take(peak);
	kept->highest_bytes = watch->highest > kept->bytes ? watch->highest : kept->bytes;
	return err;
}
