// SPDX-License-Identifier: GPL-2.0-or-later
/* The user source: outstanding memory of traced processes, its peak, and the events of -t. */
#include "loader/user/source.h"

#include <errno.h>
#include <stdlib.h>

#include "loader/tables/tracker_walk.h"
#include "loader/user/cost.h"
#include "loader/user/events.h"
#include "loader/user/item_watch.h"
#include "loader/user/overhead.h"
#include "loader/user/peak.h"
#include "loader/user/snapshot.h"
#include "loader/user/tracing.h"

struct user_source {
	struct source source;
	struct tracing tracing;
	struct user_symbols symbols;
	struct user_events events;
	struct user_peak peak;
	struct overhead overhead;
};

static struct user_source *user_source_of(struct source *source)
{
	return (struct user_source *)source;
}

static int user_source__start(struct source *base)
{
	struct user_source *source = user_source_of(base);
	struct tracing *tracing = &source->tracing;
	int err = overhead_begin(&source->overhead, &tracing->set);

	if (err)
		return err;
	tracing_start(tracing);
	user_cost_begin(&tracing->set);
	return 0;
}

static void user_source__describe(const struct source *base)
{
	tracing_describe(&((const struct user_source *)base)->tracing);
}

static int user_source__poll_fd(const struct source *base)
{
	return tracing_poll_fd(&((const struct user_source *)base)->tracing);
}

static bool user_source__ended(const struct source *base)
{
	const struct user_source *source = (const struct user_source *)base;

	return process_set_ended(&source->tracing.set) || overhead_has_failed(&source->overhead);
}

static int handle_pending(struct source *base, const struct event_listener *listener,
			  int (*take)(struct tracing *tracing, uint64_t deadline_ns),
			  uint64_t deadline_ns)
{
	struct user_source *source = user_source_of(base);
	int err;

	source->events.listener = listener;
	err = take(&source->tracing, deadline_ns);
	source->events.listener = NULL;
	overhead_poll(&source->overhead);
	return err ? err : user_peak_watch(&source->peak);
}

static int user_source__dispatch(struct source *base, const struct event_listener *listener,
				 uint64_t deadline_ns)
{
	return handle_pending(base, listener, tracing_dispatch, deadline_ns);
}

static int user_source__drain(struct source *base, const struct event_listener *listener,
			      uint64_t deadline_ns)
{
	return handle_pending(base, listener, tracing_drain, deadline_ns);
}

static int user_source__read(struct source *base, const struct read_request *request,
			     struct snapshot *ret)
{
	struct user_source *source = user_source_of(base);
	struct process_set *set = &source->tracing.set;
	bool with_peak = set->programs->ctx.opts->peak;
	int err;

	item_watches_pause_all(&source->tracing.watches);
	set->programs->ctx.deadline_ns = request->deadline_ns;
	set->programs->tracker.walker.heaps_before_ns = request->heaps_before_ns;
	set->programs->tracker.walker.read_until_ns = request->read_until_ns;
	err = with_peak ? user_peak_report(&source->peak) : 0;
	/*
	 * Apply all records now: blocks and mappings in the snapshot must be those of the same
	 * point in time.
	 */
	if (!err)
		err = records_catch_up(&source->tracing.records);
	if (!err)
		err = user_snapshot_read(set, source->tracing.records.begun_ns,
					 with_peak ? &source->peak.copies.kept : NULL, ret);
	set->programs->tracker.walker.heaps_before_ns = 0;
	if (!err)
		user_cost_read(set, ret);
	if (!err)
		overhead_read(&source->overhead, ret);
	tracker_forget_pictures(&set->programs->tracker);
	/* Keep the symbols of processes that may be removed before the report is made. */
	if (!err)
		user_symbols_keep(&source->symbols, true);
	return err;
}

static void user_source__at_end(struct source *base, pid_t pid)
{
	struct process_table *table = &user_source_of(base)->tracing.set.table;

	for (size_t i = 0; i < table->cnt; i++)
		if (table->items[i]->info.pid == pid)
			table->items[i]->at_end = true;
}

static void user_source__find_adders(struct source *base, uint32_t image,
				     struct python_container *containers, size_t cnt)
{
	struct tracing *tracing = &user_source_of(base)->tracing;

	item_watches_find(&tracing->watches, &tracing->set, image, containers, cnt);
}

static void user_source__expect_pictures(struct source *base)
{
	tracker_expect_pictures(&user_source_of(base)->tracing.set.programs->tracker);
}

static int user_source__processes(const struct source *base, struct traced_process **ret,
				  size_t *ret_cnt)
{
	const struct process_table *table = &((const struct user_source *)base)->tracing.set.table;
	struct traced_process *processes = calloc(table->cnt + 1, sizeof(*processes));
	size_t cnt = 0;

	if (!processes)
		return -ENOMEM;
	for (size_t i = 0; i < table->cnt; i++) {
		const struct user_process *process = table->items[i];

		if (!process->ended && !process->is_no_target)
			processes[cnt++] =
				(struct traced_process){process->info.pid, process->info.image};
	}
	*ret = processes;
	*ret_cnt = cnt;
	return 0;
}

static int user_source__maintain(struct source *base, const struct snapshot *snap, bool is_reported)
{
	struct user_source *source = user_source_of(base);

	user_symbols_keep(&source->symbols, false);
	deferred_stacks_go_on(&source->tracing.programs.deferred);
	if (is_reported)
		cost_meter_reported(&source->tracing.programs.cost);
	if (is_reported)
		tracing_maintain(&source->tracing, snap->calls);
	return tracker_reported(&source->tracing.programs.tracker, snap);
}

static uint64_t user_source__set_baseline(struct source *base, uint64_t now_ns)
{
	return tracker_set_baseline(&user_source_of(base)->tracing.programs.tracker, now_ns);
}

static void user_source__free(struct source *base)
{
	struct user_source *source = user_source_of(base);

	user_symbols_deinit(&source->symbols);
	overhead_end(&source->overhead);
	tracing_deinit(&source->tracing);
	peak_deinit(&source->peak.copies.kept);
	free(source);
}

static const struct source_ops user_source_ops = {
	.start = user_source__start,
	.describe = user_source__describe,
	.poll_fd = user_source__poll_fd,
	.dispatch = user_source__dispatch,
	.drain = user_source__drain,
	.ended = user_source__ended,
	.read = user_source__read,
	.at_end = user_source__at_end,
	.expect_pictures = user_source__expect_pictures,
	.find_adders = user_source__find_adders,
	.processes = user_source__processes,
	.maintain = user_source__maintain,
	.set_baseline = user_source__set_baseline,
	.free = user_source__free,
};

void user_source__measure_cost(struct source *base, int stats_fd)
{
	user_source_of(base)->tracing.programs.cost.stats_fd = stats_fd;
}

int user_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		     size_t pid_cnt, uint64_t start_ns, struct source **ret)
{
	const struct tracing_request request = {
		.opts = opts,
		.symbolizer = symbolizer,
		.pids = pids,
		.pid_cnt = pid_cnt,
		.start_ns = start_ns,
	};
	struct user_source *source = calloc(1, sizeof(*source));
	int err;

	if (!source)
		return -ENOMEM;
	source->symbols = user_symbols_of(&source->tracing.set);
	source->source = (struct source){&user_source_ops, &source->symbols.backend};
	source->events.symbols = &source->symbols;
	source->peak.set = &source->tracing.set;
	source->tracing.records.event = user_events_pass;
	source->tracing.records.arg = &source->events;
	err = tracing_init(&source->tracing, &request);
	if (err) {
		user_source__free(&source->source);
		return err;
	}
	*ret = &source->source;
	return 0;
}
