// SPDX-License-Identifier: GPL-2.0-or-later
/* The main loop over timer, signals and source. */
#include "loader/run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/log.h"
#include "loader/reporter.h"
#include "loader/sink.h"

/*
 * Reports name what they show; the rest of a recording's frames get names in so much time for each
 * snapshot, while nothing else is done, and in so much for the last one.
 */
#define RECORD_MS 1000
#define RECORD_LAST_MS 10000

struct run {
	const struct options *opts;
	struct source *source;
	const struct sink *sink;
	struct output *out;
	struct reporter reporter;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct event_listener listener;
	FILE *event_stream; /* open while events are being printed */
	int signal_fd;
	int timer_fd;
	int end_fd; /* a timer, too: --duration is over */
	uint64_t end_ns;
	uint64_t reports;
	bool finished;
	struct run_result *result;
};

static void end_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

int run_block_signals(void)
{
	sigset_t set;

	end_signals(&set);
	signal(SIGPIPE, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

/* The final report may take a while: from now on a second signal ends memleak at once. */
static void unblock_signals(void)
{
	sigset_t set;

	end_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

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

static int report_counts(struct run *run, const struct snapshot *snap, bool final)
{
	struct counts_report report;
	int err = counts_report_init(run->opts, snap, final, &report);
	FILE *stream;

	if (err)
		return err;
	stream = output_begin(run->out);
	if (stream)
		run->sink->counts(stream, &report);
	counts_report_deinit(&report);
	return stream ? output_end(run->out) : -ENOMEM;
}

/* Before thread_split() makes others of the sites. */
static int record(struct run *run, const struct snapshot *snap, bool final)
{
	int err = recorder__add(run->recorder, snap, final, run->source->symbols,
				final ? RECORD_LAST_MS : RECORD_MS);

	if (err)
		log_error("cannot write to %s: %s", run->opts->record, strerror(-err));
	return err;
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
	if (run->recorder)
		err = record(run, &snap, final);
	if (!err && run->opts->count_by)
		err = report_counts(run, &snap, final);
	else if (!err)
		err = reporter_add(&run->reporter, &snap, final, true);
	run->result->outstanding = run->reporter.outstanding;
	if (!err)
		run->source->ops->reported(run->source, &snap);
	snapshot_deinit(&snap);
	run->reports++;
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

static int handle(struct run *run, int fd)
{
	struct signalfd_siginfo signal_info;
	uint64_t expirations;
	int err;

	if (fd == run->signal_fd) {
		if (read(fd, &signal_info, sizeof(signal_info)) < 0)
			return 0;
		unblock_signals();
		return make_report(run, true);
	}
	if (fd == run->timer_fd) {
		if (read(fd, &expirations, sizeof(expirations)) < 0)
			return 0;
		return make_report(run, is_last(run));
	}
	if (fd == run->end_fd)
		return make_report(run, true);
	err = dispatch(run);
	if (!err && run->source->ops->ended(run->source))
		err = make_report(run, true);
	return err;
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
	if (!err)
		err = start_timers(run);
	while (!err && !run->finished) {
		struct epoll_event event;
		int cnt = epoll_wait(epoll_fd, &event, 1, -1);

		if (cnt < 0 && errno != EINTR)
			err = -errno;
		if (cnt > 0)
			err = handle(run, event.data.fd);
	}
	return err;
}

int run_reports(const struct options *opts, struct source *source, struct output *out,
		struct recorder *recorder, struct run_result *ret)
{
	struct run run = {
		.opts = opts,
		.source = source,
		.sink = sink_for(opts->format),
		.out = out,
		.recorder = recorder,
		.result = ret,
		.listener = {print_event, &run},
	};
	sigset_t set;
	int err;

	*ret = (struct run_result){0};
	end_signals(&set);
	run.signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	run.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	run.end_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	err = run.signal_fd < 0 || run.timer_fd < 0 || run.end_fd < 0
		      ? -errno
		      : reporter_init(opts, source->symbols, out, &run.reporter);
	if (!err)
		err = loop(&run);
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
	return err;
}
