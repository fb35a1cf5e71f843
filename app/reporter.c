// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranks the sites of snapshots, makes reports, and passes them to the sink. Four functions do this,
 * each calling the next: report_view() ranks sites, report_pools() ranks pools, report_callers()
 * ranks callers, and report_sums() makes the report. If --by groups the sites, report_sums() calls
 * report_groups(), otherwise report_stacks().
 */
#include "app/reporter.h"

#include <errno.h>
#include <math.h>

#include "app/commands.h"
#include "app/missing_names.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/signals.h"
#include "metrics/listen.h"
#include "report/callers.h"
#include "report/ended.h"
#include "report/grouping.h"
#include "report/pools.h"
#include "report/reserves.h"
#include "report/suppressor.h"
#include "report/thread_split.h"
#include "screen/screen.h"
#include "sinks/lost_note.h"
#include "sinks/sink.h"

/* The purpose for which a snapshot is added. */
enum use {
	USE_NOTE,     /* taken between reports: only adds to the history */
	USE_REMEMBER, /* belongs to a report that is not shown */
	USE_SHOW,
};

int reporter_init(const struct options *opts, struct symbol_backend *symbols, struct output *out,
		  struct reporter *ret)
{
	struct reporter reporter = {
		.opts = opts,
		.sink = sink_for(opts->format),
		.symbols = symbols,
		.out = out,
		.needs_proof = opts->prove,
	};
	int err = ranking__new(&reporter.ranking);

	if (!err)
		err = ranking__new(&reporter.group_ranking);
	if (!err)
		err = ranking__new(&reporter.pool_ranking);
	if (!err)
		err = ranking__new(&reporter.footprint_ranking);
	if (!err)
		err = ranking__new(&reporter.caller_ranking);
	if (!err && opts->suppressions.cnt)
		err = suppressor__new(&opts->suppressions, &reporter.suppressor);
	if (!err && opts->source)
		err = source_lines__new(&reporter.source.lines);
	if (err) {
		reporter_deinit(&reporter);
		return err;
	}
	*ret = reporter;
	return 0;
}

int verdict_exit_code(const struct options *opts, enum last_verdict verdict, int code)
{
	if (!opts->error_exitcode || verdict == VERDICT_CLEAN)
		return code;
	if (verdict == VERDICT_LEFT)
		return opts->error_exitcode;
	log_error("--error-exitcode: memory was not checked completely, so it is unknown whether "
		  "there is a leak");
	return EXIT_CANNOT;
}

void reporter_deinit(struct reporter *reporter)
{
	ranking__free(reporter->ranking);
	ranking__free(reporter->group_ranking);
	ranking__free(reporter->pool_ranking);
	ranking__free(reporter->footprint_ranking);
	ranking__free(reporter->caller_ranking);
	untraced_growths_deinit(&reporter->untraced);
	ended_processes_deinit(&reporter->ended);
	ended_processes_deinit(&reporter->all_ended);
	suppressor__free(reporter->suppressor);
	source_texts_deinit(&reporter->source);
	reporter->ranking = NULL;
	reporter->group_ranking = NULL;
	reporter->pool_ranking = NULL;
	reporter->footprint_ranking = NULL;
	reporter->caller_ranking = NULL;
	reporter->suppressor = NULL;
}

static uint64_t total_of(const struct snapshot *snap)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < snap->site_cnt; i++)
		bytes += snap->sites[i].bytes;
	return bytes;
}

/* Sets those fields of a report that do not come from the snapshot. */
static void dress(struct reporter *reporter, struct report *report)
{
	report->recorded = reporter->recorded;
	report->past = reporter->totals.bytes;
	report->past_cnt = reporter->totals.cnt;
	report->past_peak_bytes = reporter->totals.peak_bytes;
	report->past_per_s = totals_per_s(&reporter->totals);
	report->rss_past = rss_pasts_latest(&reporter->rss_pasts);
	report->watched = ranking__past(reporter->ranking);
	report->ended = report->final ? &reporter->all_ended : &reporter->ended;
	report->colour = output_has_colour(reporter->out, reporter->opts->colour);
	if (!reporter->opts->top_given && !report->all_frames)
		output_size(reporter->out, &report->rows, &report->columns);
	if (reporter->source.lines)
		source_texts_add(&reporter->source, report);
}

/*
 * True if no report is shown after this one. For a recording, returns `last`, which the caller has
 * set: the recording may have more snapshots than are shown.
 */
static bool is_last(const struct reporter *reporter, const struct report *report)
{
	return reporter->recorded ? reporter->last : report->final;
}

/*
 * Returns the verdict for --error-exitcode. If a proof is needed, only definite blocks count.
 * Otherwise, all sites count, except those of runtime initialisation.
 */
static enum last_verdict verdict_of(const struct report *report, bool needs_proof)
{
	const struct proof_facts *proof = report->snapshot->proof;
	bool is_left =
		needs_proof ? report->definite_count : report->count && !report->only_runtime_init;

	if (is_left)
		return VERDICT_LEFT;
	if (report->snapshot->lost[LOSS_UNREAD])
		return VERDICT_UNKNOWN;
	return !needs_proof || (proof && proof->processes && !proof->unproved) ? VERDICT_CLEAN
									       : VERDICT_UNKNOWN;
}

bool reporter_lacks_names(const struct reporter *reporter)
{
	return !clock_left_ms(reporter->names_until_ns) || signals_end_pending();
}

/*
 * Logs once which functions have no names; logs nothing for a recording. Does so at the second
 * report, or at the final one if that comes first: names that take long to look up may be missing
 * in the first.
 */
static void note_missing_names(struct reporter *reporter, const struct report *report)
{
	bool may_come = reporter->totals.cnt < 2 && !report->final;

	if (!reporter->recorded && !may_come && !reporter->names_noted &&
	    !reporter_lacks_names(reporter))
		reporter->names_noted = missing_names_note(report);
}

static int show_on_screen(struct reporter *reporter, const struct report *report)
{
	struct screen_load load = {.cpu_percent = NAN, .calls_per_s = NAN};

	if (!reporter->recorded)
		load = own_load_measure(&reporter->load, report->snapshot);
	return screen__show(reporter->screen, report, load);
}

/* True if the output gets the report. */
static bool is_printed(const struct reporter *reporter, bool final)
{
	return reporter->recorded || (!reporter->quiet && output_wants(reporter->out, final));
}

static int print_report(struct reporter *reporter, const struct report *report)
{
	FILE *stream;
	int err;

	reporter->verdict = verdict_of(report, reporter->needs_proof || report->snapshot->core);
	note_missing_names(reporter, report);
	if (reporter->server)
		server__show(reporter->server, report, NULL, 0);
	if (reporter->screen)
		return show_on_screen(reporter, report);
	if (!is_printed(reporter, report->final))
		return 0;
	stream = output_begin(reporter->out);
	if (!stream)
		return -ENOMEM;
	if (!reporter->reports++ && reporter->sink->header)
		reporter->sink->header(stream);
	err = reporter->sink->report(stream, report);
	if (is_last(reporter, report) && !reporter->sink->says_losses)
		lost_note(report);
	return err ? err : output_end(reporter->out);
}

static int report_stacks(struct reporter *reporter, const struct snapshot *snap,
			 const struct growth *growth, const struct sums *sums, uint64_t deadline_ns,
			 bool final)
{
	struct report report;
	int err = report_init_groups(reporter->opts, snap, growth, NULL, NULL, sums,
				     reporter->symbols, deadline_ns, final, &report);

	if (err)
		return err;
	dress(reporter, &report);
	err = print_report(reporter, &report);
	report_deinit(&report);
	return err;
}

/* Reads the names of the threads that are alive, for a report by thread. */
static void read_thread_names(struct report *report)
{
	for (size_t i = 0; report->by == BY_THREAD && i < report->group_cnt; i++) {
		struct report_group *group = &report->groups[i];
		const struct process *process = group->sum->process;

		/*
		 * Read /proc/PID/task/TID instead of /proc/TID: the number may by now belong to a
		 * thread of another process.
		 */
		group->thread =
			proc_thread_comm(process ? process->pid : group->sum->tid, group->sum->tid);
	}
}

static int report_grouped(struct reporter *reporter, const struct snapshot *snap,
			  const struct growth *growth, const struct grouping *grouping,
			  const struct sums *sums, uint64_t deadline_ns, bool final, enum use use)
{
	struct snapshot groups = *snap;
	cleanup_free struct growth *group_growth = calloc(grouping->cnt + 1, sizeof(*group_growth));
	struct report report;
	int err;

	groups.sites = grouping->sums;
	groups.site_cnt = grouping->cnt;
	if (use == USE_NOTE)
		return ranking__note(reporter->group_ranking, &groups);
	err = group_growth ? ranking__update(reporter->group_ranking, &groups, group_growth)
			   : -ENOMEM;
	if (err || use != USE_SHOW)
		return err;
	err = report_init_groups(reporter->opts, snap, growth, grouping, group_growth, sums,
				 reporter->symbols, deadline_ns, final, &report);
	if (err)
		return err;
	dress(reporter, &report);
	if (!reporter->recorded)
		read_thread_names(&report);
	err = print_report(reporter, &report);
	report_deinit(&report);
	return err;
}

static int report_groups(struct reporter *reporter, const struct snapshot *snap,
			 const struct growth *growth, const struct sums *sums, uint64_t deadline_ns,
			 bool final, enum use use)
{
	struct grouping grouping;
	int err = grouping_init(reporter->opts->by, snap, reporter->symbols, &grouping);

	if (err)
		return err;
	err = report_grouped(reporter, snap, growth, &grouping, sums, deadline_ns, final, use);
	grouping_deinit(&grouping);
	return err;
}

/*
 * Replaces a ranking by a new one. Its history begins with an empty snapshot at the baseline,
 * because blocks allocated before the baseline are left out.
 */
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
	totals_set_baseline(&reporter->totals, since_ns);
	err = begin_anew(&reporter->ranking, since_ns);
	if (!err)
		err = begin_anew(&reporter->pool_ranking, since_ns);
	if (!err)
		err = begin_anew(&reporter->caller_ranking, since_ns);
	return err ? err : begin_anew(&reporter->group_ranking, since_ns);
}

/*
 * Makes a view of the snapshot, to which the filters are applied. The snapshot itself does not
 * change, because it may be recorded after this report.
 */
static int make_view(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		     struct snapshot_view *ret)
{
	const struct options *opts = reporter->opts;
	int err = heed_baseline(reporter, snap);

	*ret = snapshot_view_of(snap);
	if (!err && !opts->ended)
		err = ended_leave_out(ret);
	if (!err && !opts->reserved)
		err = reserves_leave_out(ret);
	if (!err && reporter->suppressor)
		err = suppressor__apply(reporter->suppressor, reporter->symbols, deadline_ns, ret);
	if (!err && opts->by == BY_THREAD)
		err = thread_split(ret, reporter->last_ns, opts->show_allocs);
	reporter->last_ns = snap->elapsed_ns;
	return err;
}

static int report_sums(struct reporter *reporter, const struct snapshot *snap,
		       const struct growth *growth, const struct sums *sums, uint64_t deadline_ns,
		       bool final, enum use use)
{
	if (reporter->opts->by != BY_STACK)
		return report_groups(reporter, snap, growth, sums, deadline_ns, final, use);
	return use == USE_SHOW ? report_stacks(reporter, snap, growth, sums, deadline_ns, final)
			       : 0;
}

/*
 * Sums up, for each caller, the sites whose stacks contain it, and ranks these sums. Leaves out
 * sites in pools. Then makes the report.
 */
static int report_callers(struct reporter *reporter, const struct snapshot *snap,
			  const struct growth *growth, const struct pools *pools,
			  uint64_t deadline_ns, bool final, enum use use)
{
	const struct rss_pasts *rss_pasts = &reporter->rss_pasts;
	struct callers callers;
	int err = callers_init(snap, pools->is_in_pool, &callers);

	if (err)
		return err;
	err = callers_rank(&callers, reporter->caller_ranking);
	if (!err)
		err = report_sums(reporter, snap, growth,
				  &(struct sums){pools, &callers, &reporter->untraced, rss_pasts},
				  deadline_ns, final, use);
	callers_deinit(&callers);
	return err;
}

static int report_pools(struct reporter *reporter, const struct snapshot *snap,
			const struct growth *growth, uint64_t deadline_ns, bool final, enum use use)
{
	struct pools pools;
	int err = pools_init(snap, reporter->symbols, deadline_ns, &pools);

	if (err)
		return err;
	err = pools_rank(&pools, snap, reporter->pool_ranking);
	if (!err)
		err = report_callers(reporter, snap, growth, &pools, deadline_ns, final, use);
	pools_deinit(&pools);
	return err;
}

static int rank_sites(struct reporter *reporter, const struct snapshot *snap, enum use use,
		      struct growth *growth)
{
	if (use == USE_NOTE)
		return ranking__note(reporter->ranking, snap);
	totals_add(&reporter->totals, total_of(snap), snap->elapsed_ns);
	return ranking__update(reporter->ranking, snap, growth);
}

static int report_view(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		       bool final, enum use use)
{
	cleanup_free struct growth *growth = NULL;
	int err;

	if (use == USE_SHOW) {
		growth = calloc(snap->site_cnt + 1, sizeof(*growth));
		if (!growth)
			return -ENOMEM;
	}
	err = rank_sites(reporter, snap, use, growth);
	return err ? err : report_pools(reporter, snap, growth, deadline_ns, final, use);
}

/*
 * Judges the growth of memory that is not traced, compared with all traced blocks of a process,
 * including suppressed ones.
 */
static int judge_footprints(struct reporter *reporter, const struct snapshot *snap, enum use use)
{
	untraced_growths_deinit(&reporter->untraced);
	return untraced_growths_init(snap, use != USE_NOTE, &reporter->rss_pasts,
				     reporter->footprint_ranking, &reporter->untraced);
}

static void remember_rss(struct reporter *reporter, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->tally_cnt; i++) {
		const struct process_tally *tally = &snap->tallies[i];

		if (rss_total(&tally->rss))
			rss_pasts_add(&reporter->rss_pasts, tally->process->image, snap->elapsed_ns,
				      &tally->rss);
	}
}

/*
 * Stores which processes have ended, according to the snapshot of a report. Skips a snapshot
 * between reports, because the snapshot of the next report has the same ended processes.
 */
static int note_ended(struct reporter *reporter, const struct snapshot *snap,
		      const struct snapshot *view, enum use use)
{
	int err;

	if (use == USE_NOTE)
		return 0;
	ended_processes_deinit(&reporter->ended);
	err = ended_processes_add(&reporter->ended, snap, view);
	return err ? err : ended_processes_add(&reporter->all_ended, snap, view);
}

static enum use use_of(const struct reporter *reporter, bool final, bool show)
{
	if (!show || (!reporter->server && !reporter->screen && !is_printed(reporter, final)))
		return USE_REMEMBER;
	return USE_SHOW;
}

static bool has_run_out(const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->tally_cnt; i++)
		if (snap->tallies[i].out_of_memory)
			return true;
	return false;
}

/*
 * Adds the total of a report to the threshold. Returns true if the report is to be left out. A
 * report that tells that memory has run out is printed: the next one would not tell it again.
 */
static bool is_left_out(struct reporter *reporter, const struct snapshot *view, bool final)
{
	struct threshold *threshold = reporter->threshold;

	if (!threshold || view->between)
		return false;
	threshold_add(threshold, total_of(view), view->elapsed_ns);
	threshold->is_out |= has_run_out(view);
	if (!threshold->is_out && !(threshold->is_reached && final))
		return reporter->quiet && threshold->is_reached;
	reporter->quiet = false;
	return false;
}

static int add_view(struct reporter *reporter, const struct snapshot *snap,
		    const struct snapshot *view, uint64_t deadline_ns, bool final, enum use use)
{
	int err;

	remember_rss(reporter, snap);
	err = judge_footprints(reporter, snap, use);
	if (!err)
		err = note_ended(reporter, snap, view, use);
	return err ? err : report_view(reporter, view, deadline_ns, final, use);
}

int reporter_add(struct reporter *reporter, const struct snapshot *snap, uint64_t deadline_ns,
		 bool final, bool show)
{
	struct snapshot_view view;
	int err = make_view(reporter, snap, deadline_ns, &view);

	reporter->names_until_ns = deadline_ns;
	if (!err && is_left_out(reporter, &view.snap, final))
		err = note_ended(reporter, snap, &view.snap, USE_REMEMBER);
	else if (!err)
		err = add_view(reporter, snap, &view.snap, deadline_ns, final,
			       snap->between ? USE_NOTE : use_of(reporter, final, show));
	snapshot_view_deinit(&view);
	return err;
}
