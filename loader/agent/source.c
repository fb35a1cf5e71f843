// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages the traced programs: accepts their accounts, reads the accounts, and drops programs that
 * have ended.
 */
#include "loader/agent/source.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/test_knobs.h"
#include "base/user.h"
#include "loader/agent/agent_find.h"
#include "loader/agent/agent_process.h"
#include "loader/agent/counts.h"
#include "loader/agent/lineage.h"
#include "loader/agent/listener.h"
#include "loader/agent/peak.h"
#include "loader/agent/symbols.h"
#include "loader/agent/trace.h"
#include "loader/target/cgroups.h"
#include "loader/target/footprint.h"
#include "loader/target/image_set.h"
#include "loader/target/machine.h"
#include "loader/target/shared_files.h"

/* Maximum accounts that are added before other work is done */
#define ACCOUNTS_AT_ONCE 4096

struct agent_source {
	struct source source;
	const struct options *opts;
	struct symbolizer *symbolizer;
	struct listener listener;
	int epoll_fd;
	struct agent_processes processes;
	struct lineage lineage;
	uint32_t images; /* number of image numbers assigned so far */
	bool waits;      /* true while the command's account has not arrived */
	int command_fd;  /* pidfd of the command, -1 if there is none */
	struct block_walker walker;
	uint64_t since_ns; /* allocations before this time are ignored */
	struct code_files files;
	struct agent_symbols symbols;
	struct agent_peak peak;
	struct agent_counts counts; /* for --count */
	struct agent_trace trace;   /* for --trace */
	struct machine machine;     /* as of the latest report */
};

static struct agent_source *agent_source_of(struct source *source)
{
	return (struct agent_source *)source;
}

static struct agent_process *find_image(const struct agent_source *source, uint32_t image)
{
	return agent_processes_find(&source->processes, image);
}

static bool find_owner(void *arg, uint32_t image, struct block_owner *ret)
{
	const struct agent_process *process = find_image(arg, image);

	if (!process)
		return false;
	*ret = (struct block_owner){.process = &process->info,
				    .ended = process->ended || process->at_end};
	return true;
}

static struct symspace *find_space(void *arg, uint32_t image)
{
	const struct agent_process *process = find_image(arg, image);

	return process ? process->space : NULL;
}

static int watch(const struct agent_source *source, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static bool has_ended(int pidfd)
{
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	return pidfd >= 0 && poll(&end, 1, 0) > 0;
}

/*
 * True if a process that began a new account is not the process of an earlier account with its pid:
 * if it was forked, or if it runs although the earlier process has ended. Checks the earlier
 * process first, as both accounts may be of one process that ends now.
 */
static bool has_reused_pid(const struct agent_process *process, const struct agent_process *earlier)
{
	return process->view.forked_ns || ((earlier->ended || has_ended(earlier->pidfd)) &&
					   process->pidfd >= 0 && !has_ended(process->pidfd));
}

/*
 * Marks the earlier accounts with a process's pid as ended. Also marks them as replaced if the
 * process has executed another program, so that its old memory is gone.
 */
static void end_others(struct agent_source *source, const struct agent_process *process)
{
	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct agent_process *earlier = source->processes.items[i];

		if (earlier->info.pid != process->info.pid || earlier->was_reported_ended)
			continue;
		earlier->replaced |= !has_reused_pid(process, earlier);
		earlier->ended = true;
	}
}

static int refuse_samples(const struct agent_process *process, const struct sampling *has)
{
	log_error("process %d still uses the sampling rate of an earlier memleak run, one sample "
		  "in %" PRIu64 " %s: it cannot be traced with --prove, --peak, --summary or "
		  "another sampling rate",
		  process->info.pid, has->rate, has->mode == SAMPLING_BYTES ? "bytes" : "blocks");
	return -EINVAL;
}

/*
 * Makes memleak and a process use the same sampling. If the process is not sampling yet, it adopts
 * memleak's sampling; all its earlier blocks were recorded. If it is already sampling, some blocks
 * were not recorded: memleak adopts its sampling or refuses the process.
 */
static int agree_on_samples(struct agent_source *source, struct agent_process *process)
{
	const struct options *opts = source->opts;
	const struct sampling has = agent_process__sampling(process);
	struct sampling *ours = &source->walker.sampling;

	if (!has.mode) {
		if (ours->mode)
			agent_process__sample(process, ours);
		return 0;
	}
	if (opts->prove || opts->peak || opts->summary ||
	    (ours->mode && (ours->mode != has.mode || ours->rate != has.rate)))
		return refuse_samples(process, &has);
	if (!ours->mode)
		log_note("process %d still uses the sampling rate of an earlier memleak run: one "
			 "sample in %" PRIu64 " %s",
			 process->info.pid, has.rate,
			 has.mode == SAMPLING_BYTES ? "bytes" : "blocks");
	*ours = has;
	return 0;
}

static bool is_same_account(const struct agent_process *process, ino_t ino)
{
	struct stat st;

	return !fstat(process->view.fd, &st) && st.st_ino == ino;
}

/* True if memleak reads this account already. */
static bool is_known(const struct agent_source *source, pid_t pid, const struct account_view *view)
{
	struct stat st;

	if (fstat(view->fd, &st))
		return false;
	for (size_t i = 0; i < source->processes.cnt; i++)
		if (source->processes.items[i]->info.pid == pid &&
		    is_same_account(source->processes.items[i], st.st_ino))
			return true;
	return false;
}

/*
 * Opens an account, and creates the struct for its process. Takes ownership of the descriptors.
 * Returns 0 or a negative errno; -EEXIST if memleak reads the account already.
 */
static int open_account(struct agent_source *source, const struct arrival *arrival,
			struct agent_process **ret)
{
	struct account_view view;
	int err = account_view_init(arrival->fd, &view);

	if (!err && is_known(source, arrival->pid, &view)) {
		account_view_deinit(&view);
		err = -EEXIST;
	}
	if (err) {
		if (arrival->pidfd >= 0)
			close(arrival->pidfd);
		return err;
	}
	err = agent_process__new(source->symbolizer, &view, arrival->pid, arrival->pidfd,
				 ++source->images, ret);
	account_view_deinit(&view);
	return err;
}

/*
 * Adds a process, and takes ownership of the descriptors. Returns 0 or a negative errno; -EEXIST if
 * memleak reads the account already: a process may send it after memleak has found it in /proc.
 */
static int add(struct agent_source *source, const struct arrival *arrival)
{
	struct agent_process *process;
	int err = open_account(source, arrival, &process);

	if (err)
		return err;
	err = array_reserve(&source->processes.items, &source->processes.cap,
			    source->processes.cnt + 1);
	if (!err) {
		end_others(source, process);
		err = agree_on_samples(source, process);
	}
	if (!err)
		err = lineage_add(&source->lineage, &source->processes, process);
	if (err) {
		agent_process__free(process);
		return err;
	}
	if (options_want_cgroups(source->opts) || source->opts->count_by == COUNT_BY_CGROUP)
		process->info.cgroup = cgroup_of_process(arrival->pid);
	source->processes.items[source->processes.cnt++] = process;
	source->waits = false;
	return process->pidfd >= 0 ? watch(source, process->pidfd) : 0;
}

/* Adds a process whose account was found in /proc. Returns 0 or a negative errno. */
static int add_found(struct agent_source *source, int fd, pid_t pid)
{
	const struct arrival found = {fd, pid, (int)syscall(SYS_pidfd_open, pid, 0)};

	return add(source, &found);
}

/*
 * Adds received accounts, up to a limit, because they may arrive faster than they are added. Counts
 * accounts that cannot be added as refused.
 */
static int take_accounts(struct agent_source *source)
{
	struct arrival arrival;

	for (int i = 0; i < ACCOUNTS_AT_ONCE && source->listener.fd >= 0 &&
			!listener_take(&source->listener, &arrival);
	     i++)
		switch (add(source, &arrival)) {
		case 0:
		case -EEXIST:
			break;
		case -ENOMEM:
			return -ENOMEM;
		default:
			source->listener.refused++;
		}
	return 0;
}

static void look_for_ends(struct agent_source *source)
{
	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct agent_process *process = source->processes.items[i];

		if (!has_ended(process->pidfd))
			continue;
		close(process->pidfd);
		process->pidfd = -1;
		process->ended = true;
	}
}

static void begin_epoch(struct agent_source *source, uint64_t now_ns)
{
	for (size_t i = 0; i < source->processes.cnt; i++)
		agent_process__begin_epoch(source->processes.items[i], now_ns);
}

static bool wants_sums(const struct options *opts)
{
	return opts->peak || opts->summary || opts->stats;
}

/* Makes all processes maintain sums, if the options need sums. */
static int add_up(struct agent_source *source)
{
	int err = 0;

	for (size_t i = 0; !err && i < source->processes.cnt; i++)
		if (wants_sums(source->opts))
			err = agent_process__add_up(source->processes.items[i],
						    source->walker.start_ns, source->since_ns);
	return err;
}

/*
 * Enables --count and --trace in a running process. A command gets these options from its
 * environment instead.
 */
static void begin_modes(const struct agent_source *source, struct agent_process *process)
{
	if (source->opts->pid_cnt && source->opts->count_by)
		agent_process__count(process);
	if (source->opts->pid_cnt && source->opts->trace)
		account_view_trace(&process->view, source->opts->trace > 1);
}

static int agent_source__start(struct source *base)
{
	struct agent_source *source = agent_source_of(base);

	source->walker.start_ns = clock_ns(CLOCK_MONOTONIC);
	begin_epoch(source, source->walker.start_ns);
	if (source->opts->pid_cnt && test_knob(TEST_KNOB_AGENT_SINCE))
		source->since_ns = source->walker.start_ns;
	if (source->opts->warmup_ns)
		source->walker.baseline_ns = source->walker.start_ns + source->opts->warmup_ns;
	source->counts.last_ns = source->walker.start_ns;
	for (size_t i = 0; i < source->processes.cnt; i++)
		begin_modes(source, source->processes.items[i]);
	return add_up(source);
}

static void agent_source__describe(const struct source *base)
{
	const struct agent_source *source = (const struct agent_source *)base;

	for (size_t i = 0; i < source->processes.cnt; i++)
		log_note("tracing pid %d (%s) through its agent",
			 source->processes.items[i]->info.pid,
			 source->processes.items[i]->info.comm);
	if (source->waits)
		log_note("tracing the command through its agent");
}

static int agent_source__poll_fd(const struct source *base)
{
	return ((const struct agent_source *)base)->epoll_fd;
}

static bool is_traced(const void *arg, pid_t pid)
{
	const struct agent_source *source = arg;

	for (size_t i = 0; i < source->processes.cnt; i++)
		if (source->processes.items[i]->info.pid == pid)
			return true;
	return false;
}

/* True if a child counts in its parent's footprint. A traced child counts only with -f. */
static bool is_counted(const void *arg, pid_t child)
{
	const struct agent_source *source = arg;

	return source->opts->follow || !is_traced(source, child);
}

/*
 * Returns the footprint of a process. Leaves out the account, which is shared memory of the
 * process, but is not used by the program.
 */
static struct footprint footprint_of(struct agent_source *source, struct agent_process *process)
{
	struct footprint ret = {0};
	uint64_t *shared = &ret.parts[FOOTPRINT_SHARED], account;

	if (!process->ended && !process->replaced)
		ret = footprint_read(process->info.pid);
	ret.has_traced_children = source->opts->follow;
	if (ret.is_known) {
		footprint_read_children(process->info.pid, is_counted, source, &ret);
		footprint_read_timers(process->info.pid, &ret);
		footprint_read_queues(process->info.pid, &ret);
		orphans_read(&source->machine.programs, process->info.pid, is_traced, source, &ret);
		ret.parts[FOOTPRINT_UNMAPPED] =
			shared_files_bytes(process->info.pid, process->view.fd);
		ret.parts[FOOTPRINT_TMPFS] =
			tmpfs_files_of(&source->machine.tmpfs, process->info.pid);
		socket_queues_read(&source->machine.sockets, process->info.pid, &ret);
		if (source->processes.cnt <= MAPPING_COUNTS_MAX)
			mapping_counts_read(&process->mapping_counts, process->info.pid, &ret);
		account = account_view_resident(&process->view);
		*shared -= account < *shared ? account : *shared;
	}
	ret.parts[FOOTPRINT_TOO_YOUNG] = process->too_young;
	return ret;
}

static void add_counts(struct agent_source *source, struct agent_process *process,
		       struct snapshot *snap)
{
	static const enum loss losses[ACCOUNT_LOST_CNT] = {
		[ACCOUNT_LOST_CELLS] = LOSS_ALLOCS_FULL,
		[ACCOUNT_LOST_STACKS] = LOSS_STACKS_FULL,
		[ACCOUNT_LOST_UNWIND] = LOSS_UNWIND,
		[ACCOUNT_LOST_MAPPINGS] = LOSS_MAPPINGS,
		[ACCOUNT_LOST_THREADS] = LOSS_THREADS_FULL,
		[ACCOUNT_LOST_SIZE] = LOSS_NO_MEMORY,
		[ACCOUNT_LOST_INHERITED] = LOSS_INHERITED,
		[ACCOUNT_LOST_TRACED] = LOSS_EVENTS,
	};
	struct stats *stats = &snap->stats[SPACE_USER];
	struct footprint footprint = footprint_of(source, process);
	struct account_totals totals;

	for (unsigned int i = 0; i < ACCOUNT_LOST_CNT; i++)
		snap->lost[losses[i]] += process->view.account->lost[i];
	account_view_totals(&process->view, &totals);
	for (unsigned int i = 0; i < ACCOUNT_CALL_CNT; i++) {
		snap->calls += totals.calls[i];
		stats->calls_of[family_of_call(i)] += totals.calls[i];
	}
	snap->calls += totals.frees;
	stats->calls_of[FAMILY_FREE] += totals.frees;
	stats->failed += totals.failed;
	snap->lost[LOSS_STACKS_FULL] += process->stacks_lost;
	snap->lost[LOSS_INHERITED] += process->heritage.lost;
	snap->lost[LOSS_EVENTS] += process->view.passed;
	snap->lost[LOSS_PROCESSES] += account_view_is_bypassed(&process->view);
	stats->known = true;
	stats->calls = snap->calls;
	stats->stored += process->view.account->stack_cnt;
	if (totals.earlier_frees || footprint.is_known)
		snap->tallies[snap->tally_cnt++] = (struct process_tally){
			.process = &process->info,
			.earlier = {.cnt = totals.earlier_frees},
			.footprint = footprint,
			.python = scripts_version(&source->files.scripts, process->info.image, 0),
		};
}

static void add_summary(const struct agent_process *process, struct snapshot *snap)
{
	struct process_summary *summary = &snap->summaries[snap->summary_cnt++];
	struct account_totals totals;

	account_view_totals(&process->view, &totals);
	if (totals.outstanding > totals.allocated)
		totals.outstanding = totals.allocated;
	*summary = (struct process_summary){
		.process = &process->info,
		.allocated = totals.allocated,
		.freed = totals.allocated - totals.outstanding,
		.outstanding = totals.outstanding,
		.peak = totals.peak,
		.largest = totals.largest,
		.calls = totals.frees,
		.calls_of = {[FAMILY_FREE] = totals.frees},
	};
	for (unsigned int i = 0; i < ACCOUNT_CALL_CNT; i++) {
		summary->calls += totals.calls[i];
		summary->calls_of[family_of_call(i)] += totals.calls[i];
	}
}

/*
 * Returns the number of processes that are missing from the report: either the number of children
 * whose accounts never arrived, or the number of refused processes, whichever is larger. The two
 * numbers are not added, because a child may be included in both.
 */
static uint64_t count_missing(const struct agent_source *source)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), cnt = 0;

	for (size_t i = 0; source->listener.fd >= 0 && i < source->processes.cnt; i++) {
		const struct agent_process *process = source->processes.items[i];

		cnt += heritage_missing(&process->heritage, process->ended,
					now_ns - LINEAGE_ARRIVAL_NS);
	}
	return cnt > source->listener.refused ? cnt : source->listener.refused;
}

static int fill_processes(struct agent_source *source, struct snapshot *snap)
{
	snap->tallies = calloc(source->processes.cnt + 1, sizeof(*snap->tallies));
	snap->summaries = calloc(source->processes.cnt + 1, sizeof(*snap->summaries));
	if (!snap->tallies || !snap->summaries)
		return -ENOMEM;
	machine_begin_report(&source->machine);
	snap->lost[LOSS_PROCESSES] += count_missing(source);
	snap->lost[LOSS_INHERITED] += source->lineage.lost;
	snap->lost[LOSS_MAPPINGS] += source->lineage.mappings_lost;
	for (size_t i = 0; i < source->processes.cnt; i++) {
		add_counts(source, source->processes.items[i], snap);
		snap->lost[LOSS_MAPPINGS] += source->processes.items[i]->ranges.lost;
		if (source->opts->summary && !source->processes.items[i]->replaced)
			add_summary(source->processes.items[i], snap);
	}
	return 0;
}

static struct agent_process *find_ancestor(void *arg, uint32_t image)
{
	const struct agent_source *source = arg;

	return lineage_find(&source->lineage, &source->processes, image);
}

static int read_all(struct agent_source *source, const struct peak *peak, struct snapshot *ret)
{
	const struct ancestry ancestry = {&source->files, find_ancestor, source};
	struct block_walk walk;
	struct snapshot snap;
	int err = 0;

	block_walk_begin(&source->walker, clock_ns(CLOCK_MONOTONIC), &walk, &snap);
	snap.peak = peak;
	for (size_t i = 0; !err && i < source->processes.cnt; i++)
		if (!source->processes.items[i]->replaced)
			err = agent_process__walk(source->processes.items[i], &ancestry,
						  source->since_ns, &walk);
	if (!err && source->opts->follow)
		err = lineage_walk(&source->lineage, &source->processes, &ancestry, &walk);
	snap.walk_ns = clock_ns(CLOCK_MONOTONIC) - snap.t0_ns;
	snap.lost[LOSS_UNREAD] = walk.unread;
	if (!err)
		err = block_walk_fill(&walk, &snap);
	if (!err)
		err = fill_processes(source, &snap);
	err = block_walk_end(&walk, err, &snap);
	if (!err)
		*ret = snap;
	return err;
}

/*
 * Lists the blocks for --peak if a new list is due. Only the totals at the polls decide this, as
 * the highest total of several processes between two polls is unknown.
 */
static int watch_peak(struct agent_source *source, bool at_report)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), total = 0, highest = 0;
	struct snapshot snap;
	int err = 0;

	for (size_t i = 0; !err && i < source->processes.cnt; i++) {
		struct agent_process *process = source->processes.items[i];

		if (process->replaced)
			continue;
		err = agent_process__take_events(process);
		total += agent_process__outstanding(process, source->since_ns);
		if (agent_process__highest(process) > highest)
			highest = agent_process__highest(process);
	}
	if (err || !agent_peak_look(&source->peak, total, highest, at_report))
		return err;
	source->walker.any_age = true;
	err = read_all(source, NULL, &snap);
	source->walker.any_age = false;
	if (!err)
		agent_peak_keep(&source->peak, &snap, begin_ns);
	return err;
}

static int agent_source__read(struct source *base, const struct read_request *request,
			      struct snapshot *ret)
{
	struct agent_source *source = agent_source_of(base);
	bool with_peak = source->opts->peak;
	int err = with_peak ? watch_peak(source, true) : 0;

	if (err)
		return err;
	/* This is the last report for processes that have ended. */
	for (size_t i = 0; i < source->processes.cnt; i++)
		source->processes.items[i]->was_reported_ended = source->processes.items[i]->ended;
	if (source->opts->count_by)
		return agent_counts_read(&source->counts, &source->processes,
					 source->walker.start_ns, ret);
	source->walker.heaps_before_ns = request->heaps_before_ns;
	source->walker.read_until_ns = request->read_until_ns;
	err = read_all(source, with_peak ? &source->peak.copies.kept : NULL, ret);
	source->walker.heaps_before_ns = 0;
	source->walker.read_until_ns = UINT64_MAX;
	return err;
}

static int agent_source__dispatch(struct source *base, const struct event_listener *listener,
				  uint64_t deadline_ns)
{
	struct agent_source *source = agent_source_of(base);

	bool command_ended = has_ended(source->command_fd);
	int err = 0;

	if (source->opts->peak)
		err = watch_peak(source, false);
	look_for_ends(source);
	/*
	 * The end of the command was checked before this call, so an account that the command sent
	 * before its end is received here.
	 */
	if (!err)
		err = take_accounts(source);
	if (!err)
		err = add_up(source);
	if (!err && source->opts->trace)
		err = agent_trace_take(&source->trace, &source->processes, listener, false);
	if (!err && command_ended && source->waits) {
		log_note(
			"no agent connected: the command is statically linked, set-user-ID or has "
			"file capabilities, or its limit on file size (ulimit -f) or address space "
			"(ulimit -v) is too small");
		source->waits = false;
	}
	return err;
}

static bool agent_source__ended(const struct source *base)
{
	const struct agent_source *source = (const struct agent_source *)base;

	for (size_t i = 0; i < source->processes.cnt; i++)
		if (!source->processes.items[i]->ended)
			return false;
	return !source->waits;
}

/*
 * True if the process no longer has the account that memleak reads. False if memleak cannot find
 * out, for example because the process is about to end, or has ended meanwhile and another process
 * may have its pid.
 */
static bool has_other_account(const struct agent_process *process)
{
	struct file_id account;
	int err = agent_find_mapped(process->info.pid, &account);
	bool is_other = err == -ENOENT || (!err && !is_same_account(process, account.ino));

	return is_other && !has_ended(process->pidfd);
}

/*
 * Looks for the new account of a process that has executed another program. The program's agent
 * does not connect to memleak if memleak has not started the process, and cannot connect from
 * another network namespace. Logs a message if there is no account.
 */
static int find_again(struct agent_source *source, struct agent_process *process)
{
	int fd, err;

	if (process->ended || !has_other_account(process))
		return 0;
	fd = agent_find_account(process->info.pid);
	err = fd < 0 ? fd : add_found(source, fd, process->info.pid);
	if (err == -ENOMEM)
		return err;
	if (err == -EEXIST)
		return 0;
	if (!err) {
		begin_modes(source, source->processes.items[source->processes.cnt - 1]);
		return 0;
	}
	/* The new program's agent may not have begun its account yet: look again next time. */
	if (process->replaced)
		return 0;
	process->replaced = true;
	log_note("process %d executed a program without a working agent: it is not traced",
		 process->info.pid);
	return 0;
}

static void note_bypassed(struct agent_process *process)
{
	if (process->replaced || process->bypassed || !account_view_is_bypassed(&process->view))
		return;
	process->bypassed = true;
	log_note("process %d uses its own allocator, which the agent cannot trace: trace it "
		 "without --agent",
		 process->info.pid);
}

static int agent_source__drain(struct source *base, const struct event_listener *listener,
			       uint64_t deadline_ns)
{
	struct agent_source *source = agent_source_of(base);
	int err = agent_source__dispatch(base, listener, deadline_ns);

	for (size_t i = 0, cnt = source->processes.cnt; !err && i < cnt; i++)
		err = find_again(source, source->processes.items[i]);
	if (!err)
		err = lineage_retry_mappings(&source->lineage, &source->processes);
	if (!err && source->opts->trace)
		err = agent_trace_take(&source->trace, &source->processes, listener, true);
	if (!err)
		err = add_up(source);
	for (size_t i = 0; !err && i < source->processes.cnt; i++) {
		note_bypassed(source->processes.items[i]);
		err = agent_process__reconcile(source->processes.items[i]);
	}
	return err;
}

static int drop_reported(struct agent_source *source)
{
	struct image_set images = {0};
	size_t kept = 0;

	for (size_t i = 0; i < source->processes.cnt; i++) {
		struct agent_process *process = source->processes.items[i];

		if (!process->was_reported_ended) {
			source->processes.items[kept++] = process;
			continue;
		}
		/* If out of memory, unused sites remain in the table. */
		image_set_add(&images, process->info.image);
		if (lineage_keep(&source->lineage, process))
			agent_process__free(process);
	}
	source->processes.cnt = kept;
	site_table_drop_images(&source->walker.sites, &images);
	image_set_deinit(&images);
	return lineage_sweep(&source->lineage, &source->processes);
}

static int agent_source__maintain(struct source *base, const struct snapshot *snap,
				  bool is_reported)
{
	struct agent_source *source = agent_source_of(base);

	block_walker_reported(&source->walker, snap);
	if (!is_reported)
		return 0;
	agent_counts_drop_ended(&source->counts);
	return drop_reported(source);
}

static void agent_source__at_end(struct source *base, pid_t pid)
{
	struct agent_source *source = agent_source_of(base);

	for (size_t i = 0; i < source->processes.cnt; i++)
		if (source->processes.items[i]->info.pid == pid)
			source->processes.items[i]->at_end = true;
}

static int agent_source__processes(const struct source *base, struct traced_process **ret,
				   size_t *ret_cnt)
{
	const struct agent_source *source = (const struct agent_source *)base;
	struct traced_process *processes = calloc(source->processes.cnt + 1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	*ret_cnt = 0;
	for (size_t i = 0; i < source->processes.cnt; i++)
		if (!source->processes.items[i]->ended)
			processes[(*ret_cnt)++] =
				(struct traced_process){source->processes.items[i]->info.pid,
							source->processes.items[i]->info.image};
	*ret = processes;
	return 0;
}

static uint64_t agent_source__set_baseline(struct source *base, uint64_t now_ns)
{
	struct block_walker *walker = &agent_source_of(base)->walker;

	begin_epoch(agent_source_of(base), now_ns);
	if (now_ns > walker->baseline_ns)
		walker->baseline_ns = now_ns;
	return now_ns - walker->start_ns;
}

static void agent_source__free(struct source *base)
{
	struct agent_source *source = agent_source_of(base);

	for (size_t i = 0; i < source->processes.cnt; i++) {
		if (source->opts->trace)
			account_view_trace_no_more(&source->processes.items[i]->view);
		agent_process__store_mappings(source->processes.items[i]);
		agent_process__free(source->processes.items[i]);
	}
	free(source->processes.items);
	lineage_deinit(&source->lineage);
	site_table_deinit(&source->walker.sites);
	code_files_deinit(&source->files);
	listener_deinit(&source->listener);
	agent_peak_deinit(&source->peak);
	agent_counts_deinit(&source->counts);
	agent_trace_deinit(&source->trace);
	agent_symbols_deinit(&source->symbols);
	machine_deinit(&source->machine);
	if (source->command_fd >= 0)
		close(source->command_fd);
	if (source->epoll_fd >= 0)
		close(source->epoll_fd);
	free(source);
}

/*
 * Begins an epoch before a proof takes pictures (copies) of memory. A block stored in this epoch,
 * even by realloc(), may be at another address in the pictures, or missing from them.
 */
static void agent_source__expect_pictures(struct source *base)
{
	struct agent_source *source = agent_source_of(base);

	begin_epoch(source, clock_ns(CLOCK_MONOTONIC));
	for (size_t i = 0; i < source->processes.cnt; i++)
		source->processes.items[i]->pictured = true;
}

static const struct source_ops agent_source_ops = {
	.start = agent_source__start,
	.describe = agent_source__describe,
	.poll_fd = agent_source__poll_fd,
	.dispatch = agent_source__dispatch,
	.drain = agent_source__drain,
	.ended = agent_source__ended,
	.read = agent_source__read,
	.at_end = agent_source__at_end,
	.processes = agent_source__processes,
	.expect_pictures = agent_source__expect_pictures,
	.maintain = agent_source__maintain,
	.set_baseline = agent_source__set_baseline,
	.free = agent_source__free,
};

static int join(struct agent_source *source, pid_t pid)
{
	int fd = agent_find_account(pid), err;

	if (fd == -ENOENT)
		log_error("process %d has no agent: start it with memleak --agent -- CMD, or with "
			  "LD_PRELOAD=libmemleak.so",
			  pid);
	else if (fd < 0)
		log_error("cannot open the account of process %d: %s", pid, strerror(-fd));
	if (fd < 0)
		return fd;
	err = add_found(source, fd, pid);
	if (!err && source->processes.items[source->processes.cnt - 1]->ended)
		err = -ESRCH;
	if (err == -EPROTO)
		log_error("process %d has an agent of another version: restart it with the agent "
			  "of this version",
			  pid);
	else if (err && err != -EINVAL)
		log_error("cannot read the account of process %d: %s", pid, strerror(-err));
	return err;
}

int agent_source__new(const struct options *opts, struct symbolizer *symbolizer,
		      struct source **ret)
{
	struct agent_source *source = calloc(1, sizeof(*source));
	int err = 0;

	if (!source)
		return -ENOMEM;
	source->opts = opts;
	source->symbolizer = symbolizer;
	source->listener.fd = source->listener.poll_fd = -1;
	source->command_fd = -1;
	source->peak.timer_fd = source->trace.timer_fd = -1;
	source->files.symbolizer = symbolizer;
	source->files.scripts.interpreters_fd = -1;
	source->walker = (struct block_walker){
		.opts = opts,
		.space = SPACE_USER,
		.sampling = block_walk_sampling(opts),
		.read_until_ns = UINT64_MAX,
		.owner = find_owner,
		.arg = source,
	};
	source->symbols = agent_symbols_of(&source->files, find_space, source);
	source->source = (struct source){&agent_source_ops, &source->symbols.backend};
	source->trace.opts = opts;
	source->trace.files = &source->files;
	source->trace.symbols = &source->symbols.backend;
	source->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (source->epoll_fd < 0)
		err = -errno;
	if (!err && opts->peak)
		err = agent_peak_init(&source->peak);
	agent_counts_init(&source->counts, opts->count_by);
	if (!err && opts->peak)
		err = watch(source, source->peak.timer_fd);
	if (!err && opts->trace)
		err = agent_trace_init(&source->trace);
	if (!err && opts->trace)
		err = watch(source, source->trace.timer_fd);
	for (size_t i = 0; !err && i < opts->pid_cnt; i++)
		err = join(source, opts->pids[i]);
	if (err)
		agent_source__free(&source->source);
	else
		*ret = &source->source;
	return err;
}

/* Returns the user that the command runs as. */
static uid_t user_of(const struct options *opts)
{
	const struct passwd *user = opts->user ? user_by_name(opts->user) : NULL;

	return user ? user->pw_uid : getuid();
}

int agent_source__prepare_command(struct source *base)
{
	struct agent_source *source = agent_source_of(base);
	cleanup_free char *library = agent_find_library(user_of(source->opts));
	int err;

	if (!library)
		return -ENOENT;
	err = listener_init(&source->listener, user_of(source->opts));
	if (!err)
		err = watch(source, source->listener.poll_fd);
	if (!err)
		err = agent_set_environment(library, source->listener.name, source->opts);
	if (err)
		log_error("cannot prepare the command: %s", strerror(-err));
	source->waits = !err;
	return err;
}

/*
 * Raises the descriptor limit, as each traced process takes two descriptors. Helper processes were
 * started earlier and keep the old limit.
 */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

void agent_source__wait_for_command(struct source *base, pid_t pid)
{
	struct agent_source *source = agent_source_of(base);

	agent_clear_environment();
	allow_files();
	source->command_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (source->command_fd >= 0)
		watch(source, source->command_fd);
}
