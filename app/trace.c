// SPDX-License-Identifier: GPL-2.0-or-later
/* The command that traces: sets up a session, runs it, and cleans up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/both_spaces.h"
#include "app/commands.h"
#include "app/own_recording.h"
#include "app/preflight.h"
#include "app/progress.h"
#include "app/rights.h"
#include "app/run.h"
#include "base/limited_call.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/signals.h"
#include "loader/agent/source.h"
#include "loader/kernel/source.h"
#include "loader/probes/link_kind.h"
#include "loader/tables/cost_meter.h"
#include "loader/target/child.h"
#include "loader/target/private_libc.h"
#include "loader/user/count.h"
#include "loader/user/source.h"
#include "options/options.h"
#include "prober/prober.h"
#include "recording/recording.h"
#include "screen/screen.h"
#include "sinks/output.h"
#include "sinks/sink.h"
#include "symbolizer/fetcher.h"

/*
 * Maximum time to parse files of the traced processes before tracing starts, in nanoseconds. Files
 * that are not parsed by then are parsed later, between reports.
 */
#define START_NS 10000000000ULL

struct session {
	const struct options *opts;
	/* The options as given on the command line. */
	const struct options *given;
	/*
	 * With --live: a copy of the options, changed for the screen. The run changes its
	 * show_allocs when the screen begins or ends to list threads.
	 */
	struct options live;
	struct run_facts facts;
	struct output out;
	struct symbolizer *symbolizer;
	struct child child;
	struct source *source;
	struct metrics_server *server;
	struct screen *screen;
	struct recorder *recorder;
	struct report_thread thread;
	struct prover prover;
	/* descriptor of cost_meter_open(), by which the cost of tracing is measured; -1 for none */
	int stats_fd;
	struct run_result result;
};

/*
 * Opens the source for the user memory of the given processes. With -K, also opens the source for
 * the kernel memory that belongs to them, and combines both.
 */
static int open_processes(struct session *session, const pid_t *pids, size_t cnt)
{
	const struct options *opts = session->opts;
	struct source *kernel;
	int err;

	if (opts->agent)
		return session->source
			       ? 0
			       : agent_source__new(opts, session->symbolizer, &session->source);
	if (!opts->kernel && (opts->percpu || opts->movable || opts->wa_missing_free))
		log_note("-P, -F and --movable concern kernel allocations: they have no effect "
			 "without -K");
	err = (opts->count_by ? count_source__new : user_source__new)(
		opts, session->symbolizer, pids, cnt, START_NS, &session->source);
	if (!err && session->stats_fd >= 0) {
		user_source__measure_cost(session->source, session->stats_fd);
		session->stats_fd = -1;
	}
	if (err || !opts->kernel)
		return err;
	err = kernel_source__new(opts, session->symbolizer, pids, cnt, &kernel);
	if (err)
		return err;
	err = both_spaces__new(session->source, kernel, &session->source);
	if (err)
		session->source = NULL;
	return err;
}

/*
 * Opens the source: for the kernel, for processes, or for the command. The command stays stopped
 * until its probes are placed.
 */
static int open_source(struct session *session)
{
	const struct options *opts = session->opts;

	if (opts->pid_cnt || options_find_processes(opts))
		return open_processes(session, opts->pids, opts->pid_cnt);
	if (!opts->command && options_ask_for_users(opts))
		log_note("-O, -S, --alloc, --free, --force and --unwind concern user memory: they "
			 "have no effect without a process");
	if (!opts->command)
		return kernel_source__new(opts, session->symbolizer, NULL, 0, &session->source);
	return open_processes(session, &session->child.pid, 1);
}

/*
 * Starts the command with the agent. First prepares the source, because an environment variable
 * tells the agent where to send its account (its shared memory).
 */
static int start_with_agent(struct session *session)
{
	const struct options *opts = session->opts;
	int err = agent_source__new(opts, session->symbolizer, &session->source);

	if (!err)
		err = agent_source__prepare_command(session->source);
	if (!err)
		err = child_start(opts->command, opts->user,
				  opts->prove ? CHILD_AT_EXEC : CHILD_RUNS, opts->live,
				  &session->child);
	if (!err)
		agent_source__wait_for_command(session->source, session->child.pid);
	return err;
}

/*
 * True if the cost of tracing can be measured. The cost of kernel probes, and of probes that
 * several processes share, belongs to no single process.
 */
static bool measures_cost(const struct options *opts)
{
	return options_trace_processes(opts) && !options_share_probes(opts) && !opts->kernel &&
	       !opts->count_by && !opts->agent;
}

/*
 * Starts the command, if there is one, with all capabilities that memleak has. Then drops the
 * capabilities that memleak no longer needs.
 */
static int start_command(struct session *session)
{
	const struct options *opts = session->opts;
	const char *urls = getenv("DEBUGINFOD_URLS");
	int err = 0;

	if (opts->agent && opts->command)
		err = start_with_agent(session);
	else if (opts->command)
		err = child_start(opts->command, opts->user, CHILD_BEFORE_CONSTRUCTORS, opts->live,
				  &session->child);

	if (urls && *urls && !fetcher_can_download())
		log_note("a static memleak ignores DEBUGINFOD_URLS: it cannot load libdebuginfod");
	else if (urls && *urls)
		log_note("missing debug information is downloaded from %s (DEBUGINFOD_URLS)", urls);
	if (err)
		return err;
	if (measures_cost(opts))
		session->stats_fd = cost_meter_open();
	err = rights_shed(session->out.path != NULL || opts->live, opts->command != NULL,
			  options_trace_processes(opts) && link_kind_needs_admin());
	if (err)
		log_error("cannot drop capabilities: %s", strerror(-err));
	else
		limited_calls_begin();
	return err;
}

static int open_output(struct session *session)
{
	const struct sink *sink = sink_for(session->opts->format);

	return output_init(&session->out, session->opts->output,
			   !format_holds_reports(session->opts->format), sink->binary);
}

static int open_recorder(struct session *session)
{
	const struct options *opts = session->opts;
	int err = opts->record ? recorder__new(opts->record, &session->recorder) : 0;

	if (err)
		log_error("cannot write to %s: %s", opts->record, output_file_error(err));
	if (err || !opts->record || !output_is(&session->out, opts->record))
		return err;
	log_error("--output and --record are the same file: %s", opts->record);
	return -EINVAL;
}

/*
 * Truncates the output file, and begins the recording. Called late, so that a run that fails
 * earlier does not change existing files.
 */
static int begin_files(struct session *session)
{
	int err = output_empty(&session->out);

	if (err || !session->recorder)
		return err;
	err = recorder__begin(session->recorder, recording_flags(session->opts, &session->facts));
	if (err)
		log_error("cannot write to %s: %s", session->opts->record, strerror(-err));
	return err;
}

static int trace(struct session *session)
{
	int err = session->opts->live ? screen__new(session->given, &session->screen) : 0;

	if (!err)
		err = open_output(session);
	if (!err)
		err = open_recorder(session);
	if (err)
		return err;
	if (!session->opts->agent && options_share_probes(session->opts) && private_libc_install())
		log_note("memleak cannot use a private copy of the C library, and is slowed down "
			 "by its own probes");
	err = symbolizer__new(&session->symbolizer);
	if (err) {
		log_error("cannot start the symbolizer: %s", strerror(-err));
		return err;
	}
	if (!session->screen)
		progress_show(session->symbolizer);
	err = prover_init(session->opts, &session->prover);
	if (!err)
		err = signals_hold_all();
	if (!err && session->opts->listen.len)
		err = server__new(&session->opts->listen, &session->server);
	if (!err)
		err = start_command(session);
	if (!err) {
		session->facts = run_facts_now(session->opts);
		err = open_source(session);
	}
	if (!err)
		err = session->source->ops->start(session->source);
	if (!err)
		err = begin_files(session);
	if (err)
		return err;
	err = report_thread_start(&session->thread);
	if (err) {
		log_error("cannot start a thread: %s", strerror(-err));
		return err;
	}
	session->source->ops->describe(session->source);
	if (session->screen)
		err = screen__open(session->screen);
	if (!err)
		err = prover_watch(&session->prover, &session->child);
	if (err)
		return err;
	return run_reports(session->opts,
			   &(struct run_parts){session->facts, session->source, &session->out,
					       session->server, session->screen,
					       &session->live.show_allocs, session->recorder,
					       &session->thread, &session->prover},
			   &session->result);
}

/*
 * Ends a session, and returns the exit code. Removes the probes first, so that the traced processes
 * run at full speed again.
 */
static int finish(struct session *session, int err)
{
	const struct options *opts = session->opts;
	int code = err && !session->result.reader_gone ? EXIT_CANNOT : 0;

	if (session->source)
		session->source->ops->free(session->source);
	if (session->stats_fd >= 0)
		close(session->stats_fd);
	prover_deinit(&session->prover);
	symbolizer__free(session->symbolizer);
	prober_end();
	report_thread_stop(&session->thread);
	server__free(session->server);
	recorder__free(session->recorder);
	output_deinit(&session->out);
	if (session->child.pid) {
		int child_code = child_finish(&session->child);

		if (!code || err == -ECHILD)
			code = child_code;
	}
	/* Keep the screen open until the user quits. */
	if (session->screen && !err)
		screen__stay(session->screen);
	screen__free(session->screen);
	return err ? code : verdict_exit_code(opts, session->result.verdict, code);
}

/*
 * Copies and changes the options for --live: the screen groups the stacks itself, and shows threads
 * if requested.
 */
static void begin_live(struct session *session)
{
	session->live = *session->given;
	session->live.show_allocs = session->given->by == BY_THREAD;
	session->live.by = BY_STACK;
	session->opts = &session->live;
}

int trace_command(const struct options *opts)
{
	struct session session = {.opts = opts, .given = opts, .out.fd = -1, .stats_fd = -1};

	if (opts->live)
		begin_live(&session);
	preflight_quieten_libbpf();
	if (!opts->agent && preflight_check(opts))
		return EXIT_CANNOT;
	return finish(&session, trace(&session));
}
