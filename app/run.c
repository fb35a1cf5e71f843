// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the main loop, which handles timers, signals, keys and the data of the source. */
#include "app/run.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "app/own_recording.h"
#include "app/report_thread.h"
#include "app/reporter.h"
#include "app/rss_watch.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/log.h"
#include "base/signals.h"
#include "base/test_knobs.h"
#include "helper/helper.h"
#include "proof/rss_reader.h"
#include "sinks/sink.h"

/*
 * Maximum time, in nanoseconds, to look up names that are needed for a recording, but not for a
 * report. RECORD_NS applies after a report that is not the last, but never extends that report's
 * deadline. RECORD_LAST_NS applies after the last report, unless the user has requested the end.
 */
#define RECORD_NS 1000000000ULL
#define RECORD_LAST_NS 10000000000ULL

/*
 * Maximum duration of a report in nanoseconds: the interval plus REPORT_MORE_NS, but at most
 * REPORT_NS; the last report has REPORT_NS. Needed because a hostile user can provide many files
 * that take long to parse. A report that takes longer than the interval delays the next one. The
 * time to read the block tables is added to the maximum, so that the time for looking up names
 * stays the same.
 */
#define REPORT_NS 10000000000ULL
#define REPORT_MORE_NS 800000000ULL
/*
 * Maximum duration in nanoseconds of a report that ends memleak because the user has requested the
 * end, and is waiting for it
 */
#define REPORT_LAST_NS 1400000000ULL
/*
 * Maximum time to read the block tables for the last report if the user has requested the end, in
 * nanoseconds
 */
#define READ_LAST_NS 3000000000ULL

/*
 * Maximum time that the source may spend on pending data before the main loop goes on, in
 * nanoseconds: ITERATION_NS by default; ITERATION_TRACE_NS with -t, which includes waiting for
 * names; ITERATION_LAST_NS before the last report
 */
#define ITERATION_NS 100000000ULL
#define ITERATION_TRACE_NS 1000000000ULL
#define ITERATION_LAST_NS 800000000ULL

/*
 * Maximum cost of reports: 1/REPORT_SHARE of a core. If they would cost more, the interval is
 * stretched, unless a report takes less than REPORT_CHEAP_NS of CPU time.
 */
#define REPORT_SHARE 5
#define REPORT_CHEAP_NS 200000000ULL

/*
 * Limits for snapshots between reports, which are taken in the first seconds of a run because
 * verdicts need several snapshots. One is taken every POINT_NS, but at most POINTS_MAX in total,
 * and none if the interval of reports is at most POINT_NS. After a snapshot that takes more than
 * POINT_CHEAP_NS of CPU time, no more are taken.
 */
#define POINT_NS 2000000000ULL
#define POINTS_MAX 8
#define POINT_CHEAP_NS 100000000ULL

/*
 * Maximum time that a report waits for the use of resident memory, in nanoseconds. RSS_HASTY_NS
 * applies after the user has requested the end. RSS_BLOCKING_NS applies if the main loop makes a
 * report that is not the last, because the loop cannot serve the traced processes while it waits.
 */
#define RSS_WAIT_NS 20000000000ULL
#define RSS_HASTY_NS 1000000000ULL
#define RSS_BLOCKING_NS 50000000ULL

struct run {
	const struct options *opts;
	struct run_facts facts;
	struct source *source;
	const struct sink *sink;
	struct output *out;
	struct metrics_server *server; /* server of --listen, or NULL */
	struct screen *screen;         /* screen of --live, or NULL */
	bool *splits_threads;
	struct reporter reporter;
	struct recorder *recorder; /* writer of --record, or NULL */
	struct own_recording own_recording;
	struct prover *prover;
	struct event_listener listener;
	FILE *event_stream; /* events of -t that are not written yet; NULL if there are none */
	int signal_fd;
	int timer_fd;
	int end_fd; /* timer for the end of --duration */
	int point_fd;
	unsigned int points;  /* number of snapshots between reports that were due so far */
	uint64_t snapshot_ns; /* time of the most recent snapshot for a report */
	uint64_t end_ns;
	uint64_t reports;
	struct rss_watch rss_watch;
	/* Interval to which reports were stretched when this was last logged; 0 if it never was. */
	uint64_t noted_interval_ns;
	bool finished;
	/* Fields of the report in progress, from `thread` to `asked`. */
	/* thread that makes reports; thread->busy is true while it is making one */
	struct report_thread *thread;
	struct snapshot snap;
	uint64_t deadline_ns;
	uint64_t cost_ns;
	bool of_interval;
	bool final;
	/* true if the user has requested the end, so the report must be quick */
	bool end_requested;
	bool due;  /* true if an interval has ended while this report was being made */
	bool soon; /* true if another report is to be made right after this one */
	/* true if the report of `soon` was asked for; see take_snapshot() */
	bool asked;
	/* threshold of --at-bytes and --at-growth */
	struct threshold threshold;
	struct run_result *result;
};

static void print_event(void *arg, const struct trace_event *event)
{
	struct run *run = arg;

	if (!run->event_stream)
		run->event_stream = output_begin(run->out);
	if (run->event_stream)
		run->sink->event(run->event_stream, event);
}

/* Handles the pending data of the source. Writes all events of -t in these data by one write. */
static int handle_pending(struct run *run,
			  int (*take)(struct source *source, const struct event_listener *listener,
				      uint64_t deadline_ns),
			  uint64_t deadline_ns)
{
	int err = take(run->source, &run->listener, deadline_ns);

	if (run->event_stream) {
		int write_err = output_end(run->out);

		run->event_stream = NULL;
		if (!err)
			err = write_err;
	}
	return err;
}

static int report_counts(struct run *run, const struct snapshot *snap, bool final)
{
	const struct options *opts = run->opts;
	struct counts_report report;
	int err = counts_report_init(opts, snap, final, &report);
	FILE *stream;

	if (err)
		return err;
	stream = output_begin(run->out);
	if (stream)
		run->sink->counts(stream, &report);
	if (run->server)
		server__show(run->server, NULL, &report,
			     opts->max_records ? opts->max_records : opts->top);
	counts_report_deinit(&report);
	return stream ? output_end(run->out) : -ENOMEM;
}

/* Adds a snapshot to all recordings that are being written. Looks up names until the deadline. */
static int record(struct run *run, const struct snapshot *snap, bool final, uint64_t deadline_ns)
{
	int err = 0;

	own_recording_add(&run->own_recording, snap, final, run->source->symbols, deadline_ns);
	if (run->recorder)
		err = recorder__add(run->recorder, snap, final, run->source->symbols, deadline_ns);
	if (err)
		log_error("cannot write to %s: %s", run->opts->record, strerror(-err));
	return err;
}

/*
 * Records a snapshot after its report, because the names in the report are known by then. Then
 * looks up the names of other frames for a limited time. Names still unknown after the last report
 * are not in the recording.
 */
static int record_report(struct run *run)
{
	uint64_t own_ns = clock_deadline_ns(run->final ? RECORD_LAST_NS : RECORD_NS);
	bool is_own = (run->final && !run->end_requested) || own_ns < run->deadline_ns;

	return record(run, &run->snap, run->final, is_own ? own_ns : run->deadline_ns);
}

/*
 * True if the report thread makes the report; false if the main loop does. With -t the main loop
 * also looks up names, which only one thread may do at a time. During the last report the main loop
 * has nothing else to do. Reports of --count need no names.
 */
static bool is_for_thread(const struct run *run)
{
	return !run->opts->trace && !run->opts->count_by && !run->final;
}

static uint64_t rss_wait_ns(const struct run *run)
{
	uint64_t half_ns = run->opts->interval_ns / 2;

	if (run->end_requested)
		return RSS_HASTY_NS;
	if (run->rss_watch.asked_copy)
		return RSS_WAIT_NS;
	if (!run->final && !is_for_thread(run))
		return RSS_BLOCKING_NS;
	return run->final || half_ns > RSS_WAIT_NS ? RSS_WAIT_NS : half_ns;
}

/*
 * Makes the proof, and adds the readings of resident memory to the snapshot. Usually waits for the
 * readings after the proof. If one of them reads the proof's copy of a process, waits before the
 * proof, which ends the copy.
 */
static int finish_proof(struct run *run)
{
	bool waits_first = run->rss_watch.asked && run->rss_watch.asked_copy;
	uint64_t wait_ns = rss_wait_ns(run);
	int err;

	if (waits_first)
		run->deadline_ns += rss_watch_finish(&run->rss_watch, &run->snap, wait_ns);
	err = prover_finish(run->prover, &run->snap);
	if (!err && !waits_first)
		run->deadline_ns += rss_watch_finish(&run->rss_watch, &run->snap, wait_ns);
	return err;
}

/*
 * True if the report in progress is the first to reach a threshold: it is left out, and one that is
 * printed follows at once.
 */
static bool is_to_repeat(const struct run *run)
{
	return run->reporter.quiet && run->threshold.is_reached;
}

/*
 * Makes the proof, prints the report, and records its snapshot. Usually runs in the report thread,
 * because it may have to wait: for names, or for a slow reader of the output.
 */
static int show_report(void *arg)
{
	struct run *run = arg;
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int err = finish_proof(run);

	if (err)
		return err;
	if (run->opts->count_by)
		err = report_counts(run, &run->snap, run->final);
	else
		err = reporter_add(&run->reporter, &run->snap, run->deadline_ns, run->final, true);
	if (run->final && !run->opts->count_by && reporter_lacks_names(&run->reporter))
		log_note("the last report stops waiting for names: unnamed frames are shown as "
			 "file+offset");
	run->result->verdict = run->reporter.quiet ? VERDICT_CLEAN : run->reporter.verdict;
	if (!err && (run->final || run->threshold.is_out))
		threshold_end(&run->threshold);
	if (!err && !is_to_repeat(run))
		err = record_report(run);
	run->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return err;
}

static uint64_t iteration_ns(const struct run *run)
{
	return run->opts->trace ? ITERATION_TRACE_NS : ITERATION_NS;
}

static uint64_t report_ns(const struct run *run, bool final)
{
	uint64_t most_ns = run->opts->interval_ns + REPORT_MORE_NS;

	if (final)
		return patient_ns(run->end_requested ? REPORT_LAST_NS : REPORT_NS);
	return patient_ns(most_ns < REPORT_NS ? most_ns : REPORT_NS);
}

/*
 * True if the snapshot must list all heap blocks, because resident memory will be read for its
 * report. Always false if several processes are traced, or if memleak does not store every block.
 */
static bool wants_blocks(const struct run *run, bool final)
{
	return options_know_all_blocks(run->opts) && rss_watch_is_due(&run->rss_watch, final);
}

/*
 * Returns the time until which the block tables are read for the last report. 0: this is not the
 * last report, so a termination signal cancels it, and the last report follows.
 */
static uint64_t read_until_ns(const struct run *run)
{
	if (!run->final)
		return 0;
	return run->end_requested ? clock_deadline_ns(patient_ns(READ_LAST_NS)) : UINT64_MAX;
}

static enum proof_time proof_time(const struct run *run, bool now)
{
	if (run->reporter.quiet)
		return PROOF_NOT_NOW;
	return now ? PROOF_NOW : PROOF_IN_TURN;
}

/*
 * Takes the snapshot for a report, with all events up to now. asked: the user has requested the
 * report, or a threshold was reached, so it is printed, and --prove-every does not apply. Returns 0
 * or a negative errno: -EINTR if a termination signal is pending.
 */
static int take_snapshot(struct run *run, bool final, bool asked)
{
	const struct source_ops *ops = run->source->ops;
	struct read_request request;
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), drain_ns;
	int err;

	own_recording_toggle(&run->own_recording, run->opts, &run->facts);
	if (run->screen)
		*run->splits_threads = screen__wants_threads(run->screen);
	final |= ops->ended(run->source);
	drain_ns = clock_deadline_ns(final ? patient_ns(ITERATION_LAST_NS) : iteration_ns(run));
	run->deadline_ns = clock_deadline_ns(report_ns(run, final));
	request.deadline_ns = drain_ns;
	run->reporter.quiet = run->threshold.waits && !asked;
	err = prover_begin(run->prover, run->source, proof_time(run, final || asked),
			   &request.heaps_before_ns);
	if (!err && !request.heaps_before_ns && wants_blocks(run, final))
		request.heaps_before_ns = clock_ns(CLOCK_MONOTONIC);
	if (!err)
		err = handle_pending(run, ops->drain, drain_ns);
	if (err)
		return err;
	run->final = final || ops->ended(run->source);
	run->finished = run->final;
	request.read_until_ns = read_until_ns(run);
	err = ops->read(run->source, &request, &run->snap);
	if (err) {
		if (err != -EINTR)
			log_error("cannot take a snapshot: %s", strerror(-err));
		return err;
	}
	run->snap.run = run->facts;
	if (!run->opts->count_by)
		rss_watch_begin(&run->rss_watch, &run->snap, run->final,
				request.heaps_before_ns && options_keep_every_block(run->opts) &&
					!run->snap.lost[LOSS_UNREAD]);
	if (!run->prover->begun)
		snapshot_drop_heaps(&run->snap);
	run->deadline_ns += run->snap.walk_ns;
	run->snapshot_ns = clock_ns(CLOCK_MONOTONIC);
	run->cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return 0;
}

/*
 * Ends a report: lets the source clean up its tables, and releases the snapshot. Then lets the
 * source look for script lines that add items to Python containers. Also ends
 * helpers that hostile input has taken over.
 */
static int end_report(struct run *run, int err)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (!err)
		err = run->source->ops->maintain(run->source, &run->snap, true);
	snapshot_deinit(&run->snap);
	if (!err && !run->final)
		rss_watch_find_adders(&run->rss_watch, run->source);
	helpers_end_spinning(HELPER_IDLE_CPU_NS);
	run->cost_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	return err;
}

/* Sets *ret to true if no process but the command is traced. */
static int is_command_alone(struct run *run, bool *ret)
{
	cleanup_free struct traced_process *processes = NULL;
	size_t cnt;
	int err = run->source->ops->processes(run->source, &processes, &cnt);

	*ret = !err && cnt < 2;
	return err;
}

/*
 * Makes a report, or starts the report thread to make it. If a report is in progress, finishes that
 * one first. If the command is paused at its end, the report gets a proof of that moment; it is the
 * last one if no other process is traced.
 */
static int make_report(struct run *run, bool final, bool asked)
{
	int err = run->thread->busy ? end_report(run, report_thread_finish_now(run->thread)) : 0;

	if (!err && prover_note_end(run->prover, run->source) && !final)
		err = is_command_alone(run, &final);
	if (!err)
		err = take_snapshot(run, final, asked);
	if (err)
		return err == -EINTR ? 0 : err;
	if (!is_for_thread(run))
		return end_report(run, show_report(run));
	report_thread_begin(run->thread, show_report, run);
	return 0;
}

static int add_fd(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int start_timer(int fd, uint64_t first_ns, uint64_t interval_ns)
{
	const struct itimerspec spec = {
		.it_value = clock_timespec(first_ns),
		.it_interval = {(time_t)(interval_ns / 1000000000),
				(long)(interval_ns % 1000000000)},
	};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

static int start_timers(struct run *run)
{
	const struct options *opts = run->opts;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err = start_timer(run->timer_fd, now_ns + opts->interval_ns, opts->interval_ns);

	run->end_ns = UINT64_MAX;
	if (!err && opts->interval_ns > POINT_NS && !opts->count_by)
		err = start_timer(run->point_fd, now_ns + POINT_NS / 2, POINT_NS);
	if (err || !opts->duration_ns)
		return err;
	run->end_ns = now_ns + opts->duration_ns;
	return start_timer(run->end_fd, run->end_ns, 0);
}

/*
 * True if the report of this interval is the last one, because of COUNT or --duration. Compares the
 * time with the end of --duration, because both timers may expire together.
 */
static bool is_last(const struct run *run)
{
	bool is_counted = !run->threshold.waits && run->reports + 1 == run->opts->count;

	return is_counted || clock_ns(CLOCK_MONOTONIC) >= run->end_ns;
}

static int set_baseline(struct run *run)
{
	uint64_t elapsed_ns;

	if (run->opts->combined_only || run->opts->count_by) {
		log_note("the baseline is not changed: with %s, ages are unknown",
			 run->opts->count_by ? "--count" : "--combined-only");
		return 0;
	}
	elapsed_ns = run->source->ops->set_baseline(run->source, clock_ns(CLOCK_MONOTONIC));
	log_note("baseline set to now, %.1f s after tracing began: earlier allocations are left "
		 "out%s",
		 (double)elapsed_ns / 1e9,
		 elapsed_ns < run->opts->warmup_ns ? "; the warm-up continues" : "");
	return 0;
}

/*
 * Closes the screen and ends the run. Makes a final report only if a recording, the server or the
 * exit code needs one.
 */
static int leave_screen(struct run *run)
{
	screen__close(run->screen);
	signals_release_end();
	run->end_requested = true;
	if (run->recorder || run->own_recording.recorder || run->server ||
	    run->opts->error_exitcode)
		return make_report(run, true, false);
	run->finished = true;
	return 0;
}

/* Makes a report now or, if a report is in progress, as soon as that one is finished. */
static int report_soon(struct run *run, bool asked)
{
	if (!run->thread->busy)
		return make_report(run, false, asked);
	run->soon = true;
	run->asked |= asked;
	return 0;
}

static int handle_signal(struct run *run)
{
	switch (signals_read(run->signal_fd)) {
	case REQUEST_NONE:
		return 0;
	case REQUEST_REPORT:
		return report_soon(run, true);
	case REQUEST_BASELINE:
		return set_baseline(run);
	case REQUEST_END:
		break;
	}
	if (run->screen)
		return leave_screen(run);
	signals_release_end();
	run->end_requested = true;
	return make_report(run, true, false);
}

static int handle_key(struct run *run, enum screen_ask ask)
{
	switch (ask) {
	case ASK_QUIT:
		return leave_screen(run);
	case ASK_BASE:
		return set_baseline(run);
	case ASK_PROOF:
		return prover_want(run->prover) ? 0 : report_soon(run, true);
	case ASK_NOW:
		return report_soon(run, true);
	case ASK_PAGE:
		screen__want_page(run->screen);
		return report_soon(run, false);
	case ASK_RECORD:
		run->own_recording.wanted = true;
		return report_soon(run, false);
	case ASK_THREADS:
		return report_soon(run, false);
	default:
		return 0;
	}
}

static int handle_screen(struct run *run)
{
	enum screen_ask ask;
	int err;

	do {
		err = screen__next(run->screen, &ask);
		if (!err)
			err = handle_key(run, ask);
	} while (!err && ask != ASK_NOTHING && !run->finished);
	return err;
}

/*
 * Delays the next report if reports at each interval would cost too much CPU time. Assumes that the
 * next report costs as much as this one.
 */
static int stretch_interval(struct run *run)
{
	uint64_t interval_ns = run->opts->interval_ns, least_ns = REPORT_SHARE * run->cost_ns;

	if (run->cost_ns < REPORT_CHEAP_NS || least_ns <= interval_ns || run->finished)
		return 0;
	if (least_ns >= 2 * run->noted_interval_ns) {
		log_note("each report costs %.1f s of CPU time: the interval is now %.1f s instead "
			 "of %g s, to use at most 20 %% of a core",
			 (double)run->cost_ns / 1e9, (double)least_ns / 1e9,
			 (double)interval_ns / 1e9);
		run->noted_interval_ns = least_ns;
	}
	run->due = false;
	return start_timer(run->timer_fd, clock_ns(CLOCK_MONOTONIC) + least_ns - run->cost_ns,
			   interval_ns);
}

/* If the report that has just ended has reached a threshold, makes the first printed report. */
static int begin_reports(struct run *run)
{
	bool last;

	if (!is_to_repeat(run))
		return 0;
	threshold_open(&run->threshold);
	rss_watch_hurry(&run->rss_watch);
	last = is_last(run);
	run->reports++;
	return make_report(run, last, true);
}

static int handle_interval(struct run *run)
{
	bool last;
	int err;

	run->due = run->thread->busy;
	if (run->due)
		return 0;
	last = is_last(run);
	run->reports += !run->threshold.waits;
	err = make_report(run, last, false);
	run->of_interval = run->thread->busy;
	if (!err && !run->of_interval)
		err = stretch_interval(run);
	return err || run->of_interval ? err : begin_reports(run);
}

/*
 * Handles a report that the report thread has finished. If another report is already due, starts
 * it.
 */
static int handle_report(struct run *run)
{
	int err = end_report(run, report_thread_finish(run->thread));

	if (!err && run->of_interval)
		err = stretch_interval(run);
	run->of_interval = false;
	if (err)
		return err;
	if (clock_ns(CLOCK_MONOTONIC) >= run->end_ns || run->source->ops->ended(run->source))
		return make_report(run, true, false);
	if (is_to_repeat(run))
		return begin_reports(run);
	if (run->soon) {
		bool asked = run->asked;

		run->soon = run->asked = false;
		return make_report(run, false, asked);
	}
	return run->due ? handle_interval(run) : 0;
}

/*
 * Handles the end of --duration: makes the last report. If a report is in progress, leaves that to
 * handle_report().
 */
static int handle_end(struct run *run)
{
	uint64_t expirations;

	if (read(run->end_fd, &expirations, sizeof(expirations)) < 0 || run->thread->busy)
		return 0;
	return make_report(run, true, false);
}

static int stop_points(struct run *run)
{
	const struct itimerspec never = {0};

	return timerfd_settime(run->point_fd, 0, &never, NULL) ? -errno : 0;
}

/* Takes a snapshot between reports, for verdicts and recordings. */
static int take_point(struct run *run)
{
	const struct source_ops *ops = run->source->ops;
	const struct read_request request = {.deadline_ns = clock_deadline_ns(iteration_ns(run))};
	struct snapshot snap;
	int err = handle_pending(run, ops->drain, request.deadline_ns);

	if (err || ops->ended(run->source))
		return err;
	err = ops->read(run->source, &request, &snap);
	if (err)
		return err == -EINTR ? 0 : err;
	snap.between = true;
	snap.run = run->facts;
	err = reporter_add(&run->reporter, &snap, request.deadline_ns, false, false);
	if (!err)
		err = record(run, &snap, false, request.deadline_ns);
	if (!err)
		err = ops->maintain(run->source, &snap, false);
	snapshot_deinit(&snap);
	if (!err)
		rss_watch_find_adders(&run->rss_watch, run->source);
	helpers_end_spinning(HELPER_IDLE_CPU_NS);
	return err;
}

/*
 * Handles the timer for snapshots between reports: takes one, unless a report is in progress or its
 * snapshot was taken a short time ago.
 */
static int handle_point(struct run *run)
{
	uint64_t begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), expirations;
	int err;

	if (read(run->point_fd, &expirations, sizeof(expirations)) < 0)
		return 0;
	if (++run->points >= POINTS_MAX && stop_points(run))
		return -errno;
	if (run->thread->busy || clock_ns(CLOCK_MONOTONIC) < run->snapshot_ns + POINT_NS / 4)
		return 0;
	err = take_point(run);
	/*
	 * take_point() may have read the event of the target's end, and nothing would wake the main
	 * loop for it again.
	 */
	if (!err && run->source->ops->ended(run->source))
		return make_report(run, true, false);
	if (!err && clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns > POINT_CHEAP_NS)
		err = stop_points(run);
	return err;
}

static int handle(struct run *run, int fd)
{
	uint64_t expirations;
	int err;

	if (fd == run->signal_fd)
		return handle_signal(run);
	if (fd == run->timer_fd) {
		if (read(fd, &expirations, sizeof(expirations)) < 0)
			return 0;
		return handle_interval(run);
	}
	if (fd == run->end_fd)
		return handle_end(run);
	if (fd == run->point_fd)
		return handle_point(run);
	if (fd == run->thread->done_fd)
		return handle_report(run);
	if (fd == prover_end_fd(run->prover))
		return make_report(run, false, false);
	if (run->screen && fd == screen__poll_fd(run->screen))
		return handle_screen(run);
	if (run->server && fd == server__poll_fd(run->server)) {
		server__dispatch(run->server);
		return 0;
	}
	err = handle_pending(run, run->source->ops->dispatch, clock_deadline_ns(iteration_ns(run)));
	if (!err && !run->thread->busy && run->source->ops->ended(run->source))
		err = make_report(run, true, false);
	return err;
}

static int wait_for_one(struct run *run, int epoll_fd)
{
	struct epoll_event event = {.data.fd = -1};
	int cnt;

	fair_lock_release();
	cnt = epoll_wait(epoll_fd, &event, 1, -1);
	fair_lock_acquire();
	if (cnt < 0 && errno != EINTR)
		return -errno;
	return cnt > 0 ? handle(run, event.data.fd) : 0;
}

static int loop(struct run *run)
{
	cleanup_close int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int err = epoll_fd < 0 ? -errno : 0;

	if (!err)
		err = add_fd(epoll_fd, run->signal_fd);
	if (!err)
		err = add_fd(epoll_fd, run->timer_fd);
	if (!err)
		err = add_fd(epoll_fd, run->end_fd);
	if (!err)
		err = add_fd(epoll_fd, run->point_fd);
	if (!err)
		err = add_fd(epoll_fd, run->source->ops->poll_fd(run->source));
	if (!err)
		err = add_fd(epoll_fd, run->thread->done_fd);
	if (!err && run->server)
		err = add_fd(epoll_fd, server__poll_fd(run->server));
	if (!err && run->screen)
		err = add_fd(epoll_fd, screen__poll_fd(run->screen));
	if (!err && prover_end_fd(run->prover) >= 0)
		err = add_fd(epoll_fd, prover_end_fd(run->prover));
	if (!err)
		err = start_timers(run);
	while (!err && !run->finished)
		err = wait_for_one(run, epoll_fd);
	return err;
}

int run_reports(const struct options *opts, const struct run_parts *parts, struct run_result *ret)
{
	struct run run = {
		.opts = opts,
		.facts = parts->facts,
		.rss_watch.from_start = opts->command,
		.rss_watch.prover = parts->prover,
		.thread = parts->thread,
		.source = parts->source,
		.sink = sink_for(opts->format),
		.out = parts->out,
		.server = parts->server,
		.screen = parts->screen,
		.splits_threads = parts->splits_threads,
		.recorder = parts->recorder,
		.prover = parts->prover,
		.result = ret,
		.listener = {print_event, &run},
	};
	int err;

	*ret = (struct run_result){0};
	rss_use_own(opts);
	run.signal_fd = signals_open();
	run.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	run.end_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	run.point_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	err = run.signal_fd < 0 || run.timer_fd < 0 || run.end_fd < 0 || run.point_fd < 0
		      ? -errno
		      : reporter_init(opts, run.source->symbols, run.out, &run.reporter);
	run.reporter.server = run.server;
	run.reporter.screen = run.screen;
	run.threshold = threshold_of(opts);
	run.reporter.threshold = &run.threshold;
	if (!err)
		err = loop(&run);
	/* After an error, finish the report in progress without waiting for names. */
	if (run.thread->busy)
		end_report(&run, report_thread_finish_now(run.thread));
	own_recording_end(&run.own_recording);
	prover_cancel(run.prover);
	rss_watch_deinit(&run.rss_watch);
	if (run.screen)
		screen__end(run.screen);
	ret->reader_gone = err == -EPIPE;
	if (err == -ENOMEM)
		log_error("out of memory");
	reporter_deinit(&run.reporter);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	if (run.timer_fd >= 0)
		close(run.timer_fd);
	if (run.end_fd >= 0)
		close(run.end_fd);
	if (run.point_fd >= 0)
		close(run.point_fd);
	return err;
}
