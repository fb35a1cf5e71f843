// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serves requests one by one. After a picture, keeps threads stopped, or keeps the copy, until the
 * next request, until the deadline of the request for the picture, or until memleak ends, which
 * closes the socket.
 */
#include "proof/tracer_process.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/write_all.h"
#include "helper/message.h"
#include "helper/own_process.h"
#include "proof/copy.h"
#include "proof/copy_risks.h"
#include "proof/end_watch.h"
#include "proof/stop.h"
#include "proof/traced_threads.h"
#include "proof/tracer_order.h"

/*
 * Capabilities that are needed to trace, to kill copies of other users' processes, to look at
 * threads, and to raise priorities.
 */
#define NEEDED                                                                                     \
	(CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_KILL) | CAPABILITY(CAP_BPF) |                 \
	 CAPABILITY(CAP_SYS_NICE))

/*
 * Maximum wait, in nanoseconds, for the end of the other threads of an exiting process. The kernel
 * kills these threads, but threads that are busy in the kernel may take longer.
 */
#define OTHERS_END_NS 500000000ULL

/*
 * Maximum wait, in nanoseconds, before the next picture for threads of the last one that have not
 * stopped yet. After that, memleak needs a new tracer.
 */
#define PENDING_NS 1000000000ULL

/* Maximum time in nanoseconds for which threads stay stopped while memory is read. */
#define HOLD_NS 2000000000ULL

/*
 * Interval in milliseconds between checks for threads that have not stopped yet and copies that
 * have not ended yet.
 */
#define STRAGGLERS_MS 2

/*
 * QUIET_US: time in microseconds without any running thread after which a process counts as quiet.
 * QUIET_TRIES: maximum number of waits for such a time.
 */
#define QUIET_US 5000
#define QUIET_TRIES 10

struct tracing {
	int sock;
	struct thread_watch *watch;
	struct stop stop;
	bool has_stopped; /* true if threads of a process are stopped */
	/*
	 * true if threads are to be resumed, but some cannot be because they have not stopped yet
	 */
	bool resume_pending;
	struct copy copy; /* current copy; its pid is 0 if there is none */
	/*
	 * process of which a picture was taken and which is still stopped at its exit, 0 if there
	 * is none
	 */
	pid_t at_end;
	struct ended_copies ended;
	uint64_t deadline_ns;
	uint64_t stopped_ns;
};

static uint64_t stopped_so_far_ns(const struct tracing *tracing)
{
	uint64_t since_ns = tracing->stop.stopped.since_ns;

	return since_ns ? clock_ns(CLOCK_MONOTONIC) - since_ns : 0;
}

static void release_threads(struct tracing *tracing)
{
	if (tracing->has_stopped)
		tracing->stopped_ns = stopped_so_far_ns(tracing);
	tracing->has_stopped = false;
	tracing->resume_pending = !stop_end(&tracing->stop);
}

static void release(struct tracing *tracing)
{
	if (tracing->has_stopped)
		release_threads(tracing);
	if (tracing->copy.pid)
		copy_end(&tracing->copy, &tracing->ended);
	tracing->copy.pid = 0;
	if (tracing->at_end)
		end_watch_release();
	tracing->at_end = 0;
}

/*
 * Resumes all threads. Waits until until_ns for those that have not stopped yet. Returns false if
 * some of them still have not: a thread that waits for a file system may never stop.
 */
static bool end_stop(struct tracing *tracing, uint64_t until_ns)
{
	while (tracing->resume_pending) {
		tracing->resume_pending = !stop_end(&tracing->stop);
		if (tracing->resume_pending && clock_ns(CLOCK_MONOTONIC) >= until_ns)
			return false;
		if (tracing->resume_pending)
			usleep(STRAGGLERS_MS * 1000);
	}
	stop_deinit(&tracing->stop);
	return true;
}

static void end_copies(struct tracing *tracing)
{
	while (ended_copies_reap(&tracing->ended))
		usleep(STRAGGLERS_MS * 1000);
}

/*
 * Takes a picture of a process that is stopped at its exit. First waits for the end of all other
 * threads, which the kernel has killed, for at most OTHERS_END_NS. Returns -EOPNOTSUPP if the
 * process has had threads whose registers at their end are unknown.
 */
static int take_at_end(struct tracing *tracing, const struct tracer_order *order,
		       struct tracer_answer *ret)
{
	struct stopped_thread last = {.tid = end_watch_at_end(order->pid), .stopped = true};
	const struct stopped_threads stopped = {.items = &last, .cnt = 1};
	uint64_t until_ns = clock_deadline_ns(OTHERS_END_NS);
	int err;

	if (end_watch_has_had_threads())
		return -EOPNOTSUPP;
	for (;;) {
		live_threads_deinit(&tracing->stop.seen);
		err = traced_threads_look(order->pid, &stopped, true, &tracing->stop.seen);
		if ((err && err != -EAGAIN) || (!err && tracing->stop.seen.cnt == 1) ||
		    clock_ns(CLOCK_MONOTONIC) >= until_ns)
			break;
		usleep(STRAGGLERS_MS * 1000);
	}
	tracing->at_end = order->pid;
	ret->result = TRACER_ENDED;
	ret->taken_ns = clock_ns(CLOCK_MONOTONIC);
	return err;
}

/* Makes a copy. Returns 0 or a negative errno: see tracer_answer.copy_err. */
static int make_copy(struct tracing *tracing, const struct tracer_order *order)
{
	if (!order->may_copy)
		return -ENOMEM;
	if (!order->call_at)
		return -ENOEXEC;
	if (!copy_is_unseen(order->pid, &tracing->stop.seen))
		return -ECHILD;
	return copy_make(&tracing->stop, order->call_at, order->deadline_ns, &tracing->ended,
			 &tracing->copy);
}

/*
 * Used if no copy can be made, so threads must stay stopped while memory is read. Reading takes
 * longer than copying, so this function also stops threads that wake up, until no thread has run
 * for a while (or QUIET_TRIES is reached). picture__is_valid() detects threads that run later.
 */
static int wait_for_quiet(struct stop *stop, uint64_t deadline_ns)
{
	int err = stop_renew(stop, deadline_ns);

	for (int i = 0; !err && i < QUIET_TRIES; i++) {
		usleep(QUIET_US);
		err = stop_confirm(stop, deadline_ns);
		if (!err)
			return 0;
		if (err == -EAGAIN)
			err = 0;
	}
	return err;
}

static int take(struct tracing *tracing, const struct tracer_order *order,
		struct tracer_answer *ret)
{
	int err;

	if (tracing->ended.cnt == ENDED_COPIES_MAX)
		end_copies(tracing);
	tracing->stopped_ns = 0;
	tracing->deadline_ns = order->deadline_ns;
	if (end_watch_at_end(order->pid))
		return order->may_end ? take_at_end(tracing, order, ret) : -EAGAIN;
	ret->taken_ns = clock_ns(CLOCK_MONOTONIC);
	err = stop_begin(tracing->watch, order->pid, order->waits_for_runner, order->deadline_ns,
			 &tracing->stop);
	tracing->has_stopped = tracing->stop.stopped.cnt;
	if (!err && !tracing->has_stopped) {
		ret->result = TRACER_ALL_ASLEEP;
		return 0;
	}
	if (!err)
		ret->copy_err = make_copy(tracing, order);
	if (!err && ret->copy_err)
		err = wait_for_quiet(&tracing->stop, order->deadline_ns);
	ret->result = err || ret->copy_err ? TRACER_STOPPED : TRACER_COPIED;
	ret->copy = tracing->copy.pid;
	ret->taken_ns = ret->copy ? tracing->copy.taken_ns : clock_ns(CLOCK_MONOTONIC);
	if (err || ret->copy)
		release_threads(tracing);
	if (ret->result == TRACER_STOPPED && tracing->deadline_ns > clock_deadline_ns(HOLD_NS))
		tracing->deadline_ns = clock_deadline_ns(HOLD_NS);
	ret->stopped_ns = tracing->stopped_ns;
	return err;
}

/* Writes the thread records to a file, because they may be too large for one message. */
static int put_records(const struct live_threads *threads, struct message *reply)
{
	reply->fd = (int)memfd_create("threads", MFD_CLOEXEC);
	if (reply->fd < 0)
		return -errno;
	return write_all(reply->fd, threads->store, threads->store_len);
}

static void answer_take(struct tracing *tracing, struct message_cursor *request,
			struct message *reply)
{
	struct tracer_answer answer = {0};
	struct tracer_order order = {
		.pid = (pid_t)message_get_u32(request),
		.waits_for_runner = message_get_u32(request),
		.may_copy = message_get_u32(request),
		.may_end = message_get_u32(request),
		.call_at = message_get_u64(request),
		.deadline_ns = message_get_u64(request),
	};
	int err = request->bad ? -EPROTO : take(tracing, &order, &answer);

	if (!err)
		err = put_records(&tracing->stop.seen, reply);
	if (err)
		release(tracing);
	message_put_u32(reply, (uint32_t)err);
	message_put_u32(reply, answer.result);
	message_put_u32(reply, (uint32_t)answer.copy);
	message_put_u32(reply, (uint32_t)answer.copy_err);
	message_put_u64(reply, answer.taken_ns);
	message_put_u64(reply, answer.stopped_ns);
}

static int watch_end(struct message_cursor *cursor, struct message *request)
{
	pid_t pid = (pid_t)message_get_u32(cursor);
	bool notes_threads = message_get_u32(cursor);
	int err = cursor->bad || request->fd < 0 ? -EPROTO
						 : end_watch_begin(pid, notes_threads, request->fd);

	/* end_watch_begin() has taken ownership of the descriptor. */
	if (!err)
		request->fd = -1;
	return err;
}

static int answer_next(struct tracing *tracing)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	struct message_cursor cursor;
	int err = message_receive(tracing->sock, &request, MESSAGE_FOREVER);

	if (err)
		return err;
	release(tracing);
	cursor = message_read(&request);
	switch (message_get_u32(&cursor)) {
	case TRACER_TAKE:
		if (end_stop(tracing, clock_deadline_ns(PENDING_NS)))
			answer_take(tracing, &cursor, &reply);
		else
			err = -EBUSY;
		break;
	case TRACER_WATCH_END:
		message_put_u32(&reply, (uint32_t)watch_end(&cursor, &request));
		break;
	case TRACER_RELEASE:
		message_put_u64(&reply, tracing->stopped_ns);
		break;
	default:
		err = -EPROTO;
	}
	if (!err)
		err = message_send(tracing->sock, &reply, MESSAGE_FOREVER);
	if (reply.fd >= 0)
		close(reply.fd);
	reply.fd = -1;
	message_deinit(&reply);
	message_reset(&request);
	message_deinit(&request);
	return err;
}

/*
 * Resumes threads that have stopped since, and reaps copies that have ended. False if there are no
 * more of either.
 */
static bool has_stragglers(struct tracing *tracing)
{
	if (tracing->resume_pending)
		tracing->resume_pending = !stop_end(&tracing->stop);
	return ended_copies_reap(&tracing->ended) || tracing->resume_pending;
}

static void poll_end_watch(const struct tracing *tracing)
{
	const struct stopped_thread *thread =
		stopped_threads_find(&tracing->stop.stopped, end_watch_tid());

	end_watch_poll(thread && !thread->stopped && !thread->gone);
}

static int wait_ms(const struct tracing *tracing)
{
	if (tracing->resume_pending || tracing->ended.cnt)
		return STRAGGLERS_MS;
	if (tracing->has_stopped || tracing->copy.pid)
		return (int)clock_left_ms(tracing->deadline_ns);
	return -1;
}

static void serve(struct tracing *tracing)
{
	struct pollfd fds[] = {{.fd = tracing->sock, .events = POLLIN},
			       {.fd = stopped_threads_signal_fd(), .events = POLLIN}};

	for (;;) {
		int ready = poll(fds, 2, wait_ms(tracing));

		stopped_threads_drain_signals(fds[1].fd);
		poll_end_watch(tracing);
		has_stragglers(tracing);
		if (!ready && clock_ns(CLOCK_MONOTONIC) >= tracing->deadline_ns)
			release(tracing);
		if (ready > 0 && fds[0].revents && answer_next(tracing))
			break;
		/* answer_next() may have taken the signals for these events. */
		poll_end_watch(tracing);
	}
	release(tracing);
	/* Without its socket, this process does not keep memleak waiting for threads. */
	close(tracing->sock);
	/* Stragglers may never end. Until they do, the watched process must be able to run and end.
	 */
	while (has_stragglers(tracing)) {
		poll_end_watch(tracing);
		end_watch_release();
		usleep(STRAGGLERS_MS * 1000);
	}
}

/*
 * Raises the priority of the tracer, because threads are stopped while it works. The tracer needs
 * little processor time.
 */
static void raise_priority(void)
{
	struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &lowest))
		setpriority(PRIO_PROCESS, 0, -19);
}

static void keep_few_rights(void)
{
	struct capability_sets sets;
	uint64_t kept = NEEDED;

	if (capabilities_read(&sets))
		return;
	/* Older kernels, which have no CAP_BPF, require CAP_SYS_ADMIN instead. */
	if (!(sets.permitted & CAPABILITY(CAP_BPF)))
		kept |= CAPABILITY(CAP_SYS_ADMIN);
	capabilities_bound(kept & sets.permitted);
	capabilities_set(kept & sets.permitted, kept & sets.permitted);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

void tracer_process_run(int sock, struct thread_watch *watch)
{
	int files[] = {sock, watch ? thread_watch__fd(watch) : -1};
	struct tracing tracing = {.sock = 3, .watch = watch};

	raise_priority();
	fair_lock_end_sharing();
	prctl(PR_SET_NAME, "memleak tracer", 0, 0, 0);
	/*
	 * Leave memleak's process group: signals to the group, e.g. from a terminal, must not reach
	 * the tracer.
	 */
	setsid();
	own_process_reset_signals();
	own_process_keep_files(files, watch ? 2 : 1);
	if (watch)
		thread_watch__use_fd(watch, 4);
	keep_few_rights();
	stopped_threads_prepare();
	serve(&tracing);
	_exit(0);
}
