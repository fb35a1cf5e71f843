// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots through ranking and report to the sink. */
#include "app/reporter.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "metrics/listen.h"
#include "report/grouping.h"
#include "report/pools.h"
#include "report/reserves.h"
#include "report/suppressor.h"
#include "report/thread_split.h"
#include "sinks/lost_note.h"
#include "sinks/sink.h"

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret)
{
	struct reporter reporter = {
		.opts = opts,
		.sink = sink_for(opts->format),
		.symbols = symbols,
		.out = out,
	};
	int err = ranking__new(&reporter.ranking);

	if (!err)
		err = ranking__new(&reporter.group_ranking);
	if (!err)
		err = ranking__new(&reporter.pool_ranking);
	if (!err && opts->suppressions.cnt)
		err = suppressor__new(&opts->suppressions, &reporter.suppressor);
	if (err) {
		reporter_deinit(&reporter);
		return err;
	}
	*ret = reporter;
	return 0;
}

void reporter_deinit(struct reporter *reporter)
{
	ranking__free(reporter->ranking);
	ranking__free(reporter->group_ranking);
	ranking__free(reporter->pool_ranking);
	suppressor__free(reporter->suppressor);
	reporter->ranking = NULL;
	reporter->group_ranking = NULL;
	reporter->pool_ranking = NULL;
	reporter->suppressor = NULL;
}

/* What is shown of a recording may end before the run did. */
static bool is_last(const struct reporter *reporter, const struct report *report)
{
	return reporter->recorded ? reporter->last : report->final;
}

static int print_report(struct reporter *reporter, const struct report *report)
{
	FILE *stream;
	int err;

	reporter->outstanding = report->count > 0 && !report->only_runtime_init;
	if (reporter->server)
		server__show(reporter->server, report, NULL, 0);
	if (!output_wants(reporter->out, report->final) && !reporter->recorded)
		return 0;
	stream = output_begin(reporter->out);
	if (!stream)
		return -ENOMEM;
	if (!reporter->reports++ && reporter->sink->header)
		reporter->sink->header(stream);
	err = reporter->sink->report(stream, report);
	if (is_last(reporter, report) && !reporter->sink->says_losses)
		lost_note(report->snapshot);
	return err ? err : output_end(reporter->out);
}

static int report_stacks(struct reporter *reporter, const struct snapshot *snap,
			 const struct growth *growth, const struct pools *pools,
			 uint64_t deadline_ns, bool final)
{
	struct report report;
	int err = report_init_groups(reporter->opts, snap, growth, NULL, NULL, pools,
				     reporter->symbols, deadline_ns, final, &report);

	if (err)
		return err;
	err = print_report(reporter, &report);
	report_deinit(&report);
	return err;
}

/* Of a report by thread: those that still live. */
static void read_thread_names(struct report *report)
{
	for (size_t i = 0; report->by == BY_THREAD && i < report->group_cnt; i++) {
		struct report_group *group = &report->groups[i];
		const struct process *process = group->sum->process;

		/* Below its process's folder: the number may have become another process's. */
		group->thread =
			proc_thread_comm(process ? process->pid : group->sum->tid, group->sum->tid);
	}
}

static int report_grouped(struct reporter *reporter, const struct snapshot *snap,
			  const struct growth *growth, const struct grouping *grouping,
			  const struct pools *pools, uint64_t deadline_ns, bool final, bool show)
{
	struct snapshot sums = *snap;
	cleanup_free struct growth *group_growth = calloc(grouping->cnt + 1, sizeof(*group_growth));
	struct report report;
	int err;

	sums.sites = grouping->sums;
	sums.site_cnt = grouping->cnt;
	err = group_growth ? ranking__update(reporter->group_ranking, &sums, group_growth)
			   : -ENOMEM;
	if (err || !show)
		return err;
	err = report_init_groups(reporter->opts, snap, growth, grouping, group_growth, pools,
				 reporter->symbols, deadline_ns, final, &report);
	if (err)
		return err;
	report.recorded = reporter->recorded;
	if (!reporter->recorded)
		read_thread_names(&report);
	err = print_report(reporter, &report);
	report_deinit(&report);
	return err;
}

static int report_groups(struct reporter *reporter, const struct snapshot *snap,
			 const struct growth *growth, const struct pools *pools,
			 uint64_t deadline_ns, bool final, bool show)
{
	struct grouping grouping;
	int err = grouping_init(reporter->opts->by, snap, reporter->symbols, &grouping);

	if (err)
		return err;
	err = report_grouped(reporter, snap, growth, &grouping, pools, deadline_ns, final, show);
	grouping_deinit(&grouping);
	return err;
}

/* Nothing was outstanding at the baseline: so begins what is remembered of each site. */
static int begin_anew(struct ranking **ranking, uint64_t elapsed_ns)
{
	const struct snapshot empty = {.elapsed_ns = elapsed_ns};
	struct ranking *fresh;
	int err = ranking__new(&fresh);

	if (err)
		return err;
	ranking__free(*ranking);
	*ranking = fresh;
	return ranking__update(fresh, &empty, NULL);
}

static int heed_baseline(struct reporter *reporter, const struct snapshot *snap)
{
	uint64_t since_ns = snap->baseline_ns;
	int err;

	if (snap->baseline_ns == reporter->baseline_ns)
		return 0;
	reporter->baseline_ns = snap->baseline_ns;
	if (since_ns > snap->elapsed_ns)
		since_ns = snap->elapsed_ns;
	err = begin_anew(&reporter->ranking, since_ns);
	if (!err)
		err = begin_anew(&reporter->pool_ranking, since_ns);
	return err ? err : begin_anew(&reporter->group_ranking, since_ns);
}

/* Leaves the snapshot as it is: another may look at it after this report. */
static int make_view(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		     struct snapshot_view *ret)
{
	const struct options *opts = reporter->opts;
	int err = heed_baseline(reporter, snap);

	*ret = snapshot_view_of(snap);
	if (!err && !opts->reserved)
		err = reserves_leave_out(ret);
	if (!err && reporter->suppressor)
		err = suppressor__apply(reporter->suppressor, reporter->symbols, deadline_ns, ret);
	if (!err && opts->by == BY_THREAD)
		err = thread_split(ret, reporter->last_ns, opts->show_allocs);
	reporter->last_ns = snap->elapsed_ns;
	return err;
}

static int report_pools(struct reporter *reporter, const struct snapshot *snap,
			const struct growth *growth, uint64_t deadline_ns, bool final, bool show)
{
	struct pools pools;
	int err = pools_init(snap, reporter->symbols, deadline_ns, &pools);

	if (err)
		return err;
	err = pools_rank(&pools, snap, reporter->pool_ranking);
	if (!err && reporter->opts->by != BY_STACK)
		err = report_groups(reporter, snap, growth, &pools, deadline_ns, final, show);
	else if (!err && show)
		err = report_stacks(reporter, snap, growth, &pools, deadline_ns, final);
	pools_deinit(&pools);
	return err;
}

static int report_view(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		       bool final, bool show)
{
	cleanup_free struct growth *growth = NULL;
	int err;

	show &= reporter->recorded || reporter->server || output_wants(reporter->out, final);
	if (show) {
		growth = calloc(snap->site_cnt + 1, sizeof(*growth));
		if (!growth)
			return -ENOMEM;
	}
	err = ranking__update(reporter->ranking, snap, growth);
	return err ? err : report_pools(reporter, snap, growth, deadline_ns, final, show);
}

int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show)
{
	struct snapshot_view view;
	int err = make_view(reporter, snap, deadline_ns, &view);

	if (!err)
		err = report_view(reporter, &view.snap, deadline_ns, final, show);
	snapshot_view_deinit(&view);
	return err;
}
