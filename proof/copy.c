// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies a stopped process by making one of its threads call clone(). */
#include "proof/copy.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "proof/remote_call.h"

#define TRIES 8

/*
 * Interval in microseconds between checks whether a killed copy has ended, if ENDED_COPIES_MAX
 * killed copies still exist.
 */
#define REAP_US 1000

/*
 * Flags for clone(). They contain no exit signal, so the end of the child is not signalled to its
 * parent.
 */
#define MAKER_FLAGS (CLONE_VM | CLONE_FILES)
#define COPY_FLAGS CLONE_FILES

/* The thread and the processes that take part in making a copy. */
struct family {
	struct remote_caller parent; /* a thread of the process to copy */
	/* child that `parent` makes; shares the process's memory and makes the copy */
	struct remote_caller maker;
	struct copy copy;
};

/*
 * Waits until the new child stops before its first instruction. PTRACE_O_EXITKILL: the kernel kills
 * the child if the tracer ends.
 */
static int wait_for_birth(pid_t pid)
{
	const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK |
			     PTRACE_O_EXITKILL;
	int status = stopped_thread_next_stop(pid, UINT64_MAX);

	if (status < 0)
		return status;
	return ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)options) ? -errno : 0;
}

static int make_child(struct remote_caller *caller, uint64_t flags, pid_t *ret, pid_t *ret_there)
{
	const uint64_t arguments[6] = {flags};
	pid_t child;
	long result;
	int err = remote_call(caller, SYS_clone, arguments, &result, &child);

	if (!err && result < 0)
		err = (int)result;
	if (!err && !child)
		err = -EPROTO;
	if (!err)
		err = wait_for_birth(child);
	if (!err) {
		*ret = child;
		*ret_there = (pid_t)result;
	}
	return err;
}

/*
 * Chooses the thread that forks the copy: the first stopped one that can make system calls for
 * memleak.
 */
static int choose_parent(const struct stop *stop, uint64_t at, struct remote_caller *ret)
{
	const struct stopped_thread *thread = NULL;

	while ((thread = stop_next_thread(stop, thread))) {
		const struct memleak_thread_record *seen =
			live_threads_find(&stop->seen, thread->tid);

		if (seen && !thread->stopped_by_signal &&
		    !remote_caller_begin(ret, thread->tid, at, seen->sequences, false))
			return 0;
	}
	return -ENOEXEC;
}

/* Kills a new process that has not run yet. */
static void kill_process(pid_t pid, uint64_t at)
{
	struct remote_caller caller;

	/*
	 * If the new process belongs to another user, kill() is not permitted: make the new process
	 * call exit_group().
	 */
	if (kill(pid, SIGKILL) && errno == EPERM && !remote_caller_begin(&caller, pid, at, 0, true))
		remote_call_last(&caller, SYS_exit_group);
}

static bool is_gone(pid_t pid)
{
	int status;
	pid_t got = waitpid(pid, &status, __WALL | WNOHANG);

	return got < 0 || (got > 0 && !WIFSTOPPED(status));
}

size_t ended_copies_reap(struct ended_copies *ended)
{
	size_t left = 0;

	for (size_t i = 0; i < ended->cnt; i++)
		if (!is_gone(ended->pids[i]))
			ended->pids[left++] = ended->pids[i];
	ended->cnt = left;
	return left;
}

void copy_end(const struct copy *copy, struct ended_copies *ended)
{
	kill_process(copy->pid, copy->at);
	/*
	 * If `ended` is full, wait until one of its copies has ended: the kernel needs time to free
	 * its memory.
	 */
	while (ended->cnt == ENDED_COPIES_MAX && ended_copies_reap(ended) == ENDED_COPIES_MAX)
		usleep(REAP_US);
	ended->pids[ended->cnt++] = copy->pid;
}

/*
 * Raises the priority of the maker of the copy, because all threads are stopped until it has made
 * the copy. Without permission, the priority stays normal.
 */
static void raise_priority(pid_t pid)
{
	struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_RR)};

	sched_setscheduler(pid, SCHED_RR | SCHED_RESET_ON_FORK, &lowest);
}

/*
 * Makes the copy. If any thread has run since the threads were stopped, kills the copy and retries.
 */
static int make_copy(struct family *family, struct stop *stop, uint64_t deadline_ns,
		     struct ended_copies *ended)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES && err == -EAGAIN; i++) {
		pid_t there;

		err = make_child(&family->maker, COPY_FLAGS, &family->copy.pid, &there);
		if (err)
			return err;
		family->copy.taken_ns = clock_ns(CLOCK_MONOTONIC);
		err = stop_confirm(stop, deadline_ns);
		if (err)
			copy_end(&family->copy, ended);
	}
	return err == -EAGAIN ? -ESTALE : err;
}

/*
 * Kills the maker of the copy, and makes a thread of the process reap it, so that the maker's pid
 * is free before the process resumes.
 */
static void end_maker(struct family *family, pid_t there)
{
	const uint64_t arguments[6] = {(uint64_t)there, 0, __WALL | WNOHANG};
	pid_t child;
	long result;

	kill_process(family->maker.tid, family->maker.at);
	while (stopped_thread_next_stop(family->maker.tid, UINT64_MAX) >= 0)
		;
	remote_call(&family->parent, SYS_wait4, arguments, &result, &child);
}

int copy_make(struct stop *stop, uint64_t at, uint64_t deadline_ns, struct ended_copies *ended,
	      struct copy *ret)
{
	struct family family = {.copy.at = at};
	pid_t maker, there;
	int err = choose_parent(stop, at, &family.parent);

	if (err)
		return err;
	err = make_child(&family.parent, MAKER_FLAGS, &maker, &there);
	if (!err) {
		raise_priority(maker);
		err = remote_caller_begin(&family.maker, maker, at, 0, true);
		if (!err)
			err = make_copy(&family, stop, deadline_ns, ended);
		end_maker(&family, there);
	}
	remote_caller_end(&family.parent);
	if (!err)
		*ret = family.copy;
	return err;
}
