// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --peak: a copy of what is outstanding, taken each time that this has grown by a share beyond
 * what it was at most.
 */
#include <inttypes.h>

#include "loader/clock.h"
#include "loader/log.h"
#include "loader/user_source_impl.h"

/* A sixteenth, but not each of the first few bytes. */
#define SHARE 16
#define STEP_MIN 4096

static volatile struct memleak_peak_watch *watch_of(const struct user_source *source)
{
	return (volatile struct memleak_peak_watch *)&source->ctx.skel->bss->peak_watch;
}

static uint64_t mapped_bytes(const struct user_source *source)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < source->processes.cnt; i++) {
		const struct ranges *ranges = &source->processes.items[i]->ranges;

		for (size_t j = 0; j < ranges->cnt; j++)
			if (ranges->items[j].kind == MEMLEAK_KIND_MMAP)
				bytes += ranges->items[j].end - ranges->items[j].start;
	}
	return bytes;
}

/* Brings the programs' total up to what they do not see. */
static void add_unseen(struct user_source *source)
{
	volatile struct memleak_peak_watch *watch = watch_of(source);
	struct user_peak *peak = &source->peak;
	uint64_t mapped = mapped_bytes(source), purged = source->tracker.purged_bytes, total;

	total = __atomic_add_fetch(&watch->total, mapped - peak->mapped - (purged - peak->purged),
				   __ATOMIC_RELAXED);
	peak->mapped = mapped;
	peak->purged = purged;
	if ((int64_t)total > (int64_t)watch->highest)
		watch->highest = total;
}

/* An older copy stays if it has more. */
static int keep(struct peak *kept, const struct snapshot *snap, bool *better)
{
	struct peak copy;
	int err = peak_copy(snap, &copy);

	if (err)
		return err;
	*better = copy.bytes > kept->bytes;
	peak_deinit(*better ? kept : &copy);
	if (*better)
		*kept = copy;
	return 0;
}

/*
 * What comes and goes faster than it is copied is not waited for again: after a copy that came
 * too late there must be more than ever.
 */
static void choose_limit(struct user_source *source, bool better)
{
	volatile struct memleak_peak_watch *watch = watch_of(source);
	uint64_t most = source->peak.kept.bytes;

	if (!better && watch->highest > most)
		most = watch->highest;
	watch->limit = most + (most / SHARE > STEP_MIN ? most / SHARE : STEP_MIN);
	watch->told = 0;
	/* Nobody tells of what came meanwhile if nothing comes any more. */
	if ((int64_t)watch->total >= (int64_t)watch->limit)
		user_source__retry_soon(source);
}

static int take(struct user_source *source)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), ns;
	struct snapshot snap;
	bool better;
	int err;

	source->tracker.any_age = true;
	err = user_snapshot__take(source, &snap);
	source->tracker.any_age = false;
	if (err)
		return err;
	err = keep(&source->peak.kept, &snap, &better);
	snapshot_deinit(&snap);
	if (err)
		return err;
	ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	/* Half of the time is left for other work. */
	source->peak.not_before_ns = begin_ns + 2 * ns;
	log_verbose("peak: a copy took %" PRIu64 " us; the best one has %" PRIu64 " bytes",
		    ns / 1000, source->peak.kept.bytes);
	choose_limit(source, better);
	return 0;
}

int user_peak__watch(struct user_source *source)
{
	const volatile struct memleak_peak_watch *watch = watch_of(source);

	if (!source->ctx.opts->peak || !source->ctx.skel->bss->tracking)
		return 0;
	add_unseen(source);
	if ((int64_t)watch->total <= 0 || watch->total < watch->limit)
		return 0;
	if (clock_ns(CLOCK_MONOTONIC) >= source->peak.not_before_ns)
		return take(source);
	user_source__retry_soon(source);
	return 0;
}

int user_peak__report(struct user_source *source)
{
	const volatile struct memleak_peak_watch *watch = watch_of(source);
	struct peak *kept = &source->peak.kept;
	int err = 0;

	add_unseen(source);
	if ((int64_t)watch->total > (int64_t)kept->bytes)
		err = take(source);
	kept->highest_bytes = watch->highest > kept->bytes ? watch->highest : kept->bytes;
	return err;
}
