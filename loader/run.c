// SPDX-License-Identifier: GPL-2.0-or-later
/* The main loop over timer, signals and source. */
#include "loader/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/grouping.h"
#include "loader/log.h"
#include "loader/lost_note.h"
#include "loader/signals.h"
#include "loader/sink.h"
#include "loader/suppressor.h"
#include "loader/thread_names.h"
#include "loader/thread_split.h"

struct run {
	const struct options *opts;
	struct source *source;
	const struct sink *sink;
	struct output *out;
	struct server *server; /* NULL: none */
	struct ranking *ranking;
	struct ranking *group_ranking;
	struct suppressor *suppressor; /* NULL: nothing is suppressed */
	struct event_listener listener;
	FILE *event_stream; /* open while events are being printed */
	int signal_fd;
	int timer_fd;
	int end_fd; /* a timer, too: --duration is over */
	uint64_t end_ns;
	uint64_t reports;
	bool begun; /* a report was printed */
	bool finished;
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

/* Handles what the source has; events of -t are written in one piece. */
static int dispatch(struct run *run)
{
	int err = run->source->ops->dispatch(run->source, &run->listener);

	if (run->event_stream) {
		int write_err = output_end(run->out);

		run->event_stream = NULL;
		if (!err)
			err = write_err;
	}
	return err;
}

static int print_report(struct run *run, const struct report *report)
{
	FILE *stream;
	int err;

	run->result->outstanding = report->count > 0 && !report->only_start_up;
	if (run->server)
		server__show(run->server, report, NULL, 0);
	if (!output_wants(run->out, report->final))
		return 0;
	stream = output_begin(run->out);
	if (!stream)
		return -ENOMEM;
	if (!run->begun && run->sink->header)
		run->sink->header(stream);
	run->begun = true;
	err = run->sink->report(stream, report);
	if (report->final && !run->sink->says_losses)
		lost_note(report->snapshot);
	return err ? err : output_end(run->out);
}

static int report_stacks(struct run *run, const struct snapshot *snap, const struct growth *growth,
			 bool final)
{
	struct report report;
	int err = report_init(run->opts, snap, growth, run->source->symbols, final, &report);

	if (err)
		return err;
	err = print_report(run, &report);
	report_deinit(&report);
	return err;
}

static int report_grouped(struct run *run, const struct snapshot *snap, const struct growth *growth,
			  const struct grouping *grouping, bool final)
{
	const struct snapshot sums = {
		.elapsed_ns = snap->elapsed_ns, .sites = grouping->sums, .site_cnt = grouping->cnt};
	cleanup_free struct growth *group_growth = calloc(grouping->cnt + 1, sizeof(*growth));
	struct report report;
	int err = group_growth ? ranking__update(run->group_ranking, &sums, group_growth) : -ENOMEM;

	if (!err)
		err = report_init_groups(run->opts, snap, growth, grouping, group_growth,
					 run->source->symbols, final, &report);
	if (err)
		return err;
	thread_names_read(&report);
	err = print_report(run, &report);
	report_deinit(&report);
	return err;
}

static int report_groups(struct run *run, const struct snapshot *snap, const struct growth *growth,
			 bool final)
{
	struct grouping grouping;
	int err = grouping_init(run->opts->by, snap, run->source->symbols, &grouping);

	if (err)
		return err;
	err = report_grouped(run, snap, growth, &grouping, final);
	grouping_deinit(&grouping);
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

static int report_snapshot(struct run *run, struct snapshot *snap, bool final)
{
	cleanup_free struct growth *growth = NULL;
	int err = 0;

	if (run->suppressor)
		err = suppressor__apply(run->suppressor, run->source->symbols, NAMING_BUDGET_MS,
					snap);
	if (!err && run->opts->by == BY_THREAD)
		err = thread_split(snap);
	if (err)
		return err;
	growth = calloc(snap->site_cnt + 1, sizeof(*growth));
	err = growth ? ranking__update(run->ranking, snap, growth) : -ENOMEM;
	if (err || (!run->server && !output_wants(run->out, final)))
		return err;
	if (run->opts->by == BY_STACK)
		return report_stacks(run, snap, growth, final);
	return report_groups(run, snap, growth, final);
}

/* Everything that happened up to now goes into the report, hence the dispatch before it. */
static int make_report(struct run *run, bool final)
{
	struct snapshot snap;
	int err = dispatch(run);

	if (err)
		return err;
	final |= run->source->ops->ended(run->source);
	run->finished = final;
	err = run->source->ops->snapshot(run->source, &snap);
	if (err) {
		log_error("cannot read what is outstanding: %s", strerror(-err));
		return err;
	}
	if (run->opts->count_by)
		err = report_counts(run, &snap, final);
	else
		err = report_snapshot(run, &snap, final);
	if (!err)
		run->source->ops->reported(run->source, &snap);
	snapshot_deinit(&snap);
	return err;
}

static int add_fd(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
}

static int start_timer(int fd, uint64_t first_ns, uint64_t interval_ns)
{
	const struct itimerspec spec = {
		.it_value = timespec_of(first_ns),
		.it_interval = timespec_of(interval_ns),
	};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL) ? -errno : 0;
}

static int start_timers(struct run *run)
{
	const struct options *opts = run->opts;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int err = start_timer(run->timer_fd, now_ns + opts->interval_ns, opts->interval_ns);

	run->end_ns = UINT64_MAX;
	if (err || !opts->duration_ns)
		return err;
	run->end_ns = now_ns + opts->duration_ns;
	return start_timer(run->end_fd, run->end_ns, 0);
}

/* Whether the report of an interval is the last: both timers may have run out at once. */
static bool is_last(const struct run *run)
{
	return run->reports + 1 == run->opts->count || clock_ns(CLOCK_MONOTONIC) >= run->end_ns;
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

static int set_baseline(struct run *run)
{
	uint64_t elapsed_ns;
	int err;

	if (run->opts->combined_only || run->opts->count_by) {
		log_note("SIGUSR2 sets no baseline: %s keeps no ages",
			 run->opts->count_by ? "--count" : "--combined-only");
		return 0;
	}
	elapsed_ns = run->source->ops->set_baseline(run->source, clock_ns(CLOCK_MONOTONIC));
	log_note("baseline: reports leave out what was allocated before now, %.1f s after tracing "
		 "began%s",
		 (double)elapsed_ns / 1e9,
		 elapsed_ns < run->opts->warmup_ns ? "; the warm-up goes on" : "");
	err = begin_anew(&run->ranking, elapsed_ns);
	return err ? err : begin_anew(&run->group_ranking, elapsed_ns);
}

static int handle_signal(struct run *run)
{
	switch (signals_read(run->signal_fd)) {
	case REQUEST_NONE:
		return 0;
	case REQUEST_REPORT:
		return make_report(run, false);
	case REQUEST_BASELINE:
		return set_baseline(run);
	case REQUEST_END:
		break;
	}
	signals_release_end();
	return make_report(run, true);
}

static int handle_interval(struct run *run)
{
	bool last = is_last(run);

	run->reports++;
	return make_report(run, last);
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
		return make_report(run, true);
	if (run->server && fd == server__poll_fd(run->server))
		return 0;
	err = dispatch(run);
	if (!err && run->source->ops->ended(run->source))
		err = make_report(run, true);
	return err;
}

/* Clients have a turn when there is one, and when the time of one is over. */
static void serve(struct run *run, int fd)
{
	if (fd == server__poll_fd(run->server) || !server__timeout_ms(run->server))
		server__dispatch(run->server);
}

static int wait_for_one(struct run *run, int epoll_fd)
{
	struct epoll_event event = {.data.fd = -1};
	int timeout_ms = run->server ? server__timeout_ms(run->server) : -1;
	int cnt = epoll_wait(epoll_fd, &event, 1, timeout_ms);

	if (cnt < 0 && errno != EINTR)
		return -errno;
	if (run->server)
		serve(run, event.data.fd);
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
		err = add_fd(epoll_fd, run->source->ops->poll_fd(run->source));
	if (!err && run->server)
		err = add_fd(epoll_fd, server__poll_fd(run->server));
	if (!err)
		err = start_timers(run);
	while (!err && !run->finished)
		err = wait_for_one(run, epoll_fd);
	return err;
}

int run_reports(const struct options *opts, struct source *source, struct output *out,
		struct server *server, struct run_result *ret)
{
	struct run run = {
		.opts = opts,
		.source = source,
		.sink = sink_for(opts->format),
		.out = out,
		.server = server,
		.result = ret,
		.listener = {print_event, &run},
	};
	int err;

	*ret = (struct run_result){0};
	run.signal_fd = signals_open();
	run.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	run.end_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	err = run.signal_fd < 0 || run.timer_fd < 0 || run.end_fd < 0 ? -errno
								      : ranking__new(&run.ranking);
	if (!err)
		err = ranking__new(&run.group_ranking);
	if (!err && opts->suppressions.cnt)
		err = suppressor__new(&opts->suppressions, &run.suppressor);
	if (!err)
		err = loop(&run);
	ret->reader_gone = err == -EPIPE;
	if (err == -ENOMEM)
		log_error("out of memory");
	ranking__free(run.ranking);
	ranking__free(run.group_ranking);
	suppressor__free(run.suppressor);
	if (run.signal_fd >= 0)
		close(run.signal_fd);
	if (run.timer_fd >= 0)
		close(run.timer_fd);
	if (run.end_fd >= 0)
		close(run.end_fd);
	return err;
}
