// SPDX-License-Identifier: GPL-2.0-or-later
/* Stops threads by PTRACE_SEIZE and PTRACE_INTERRUPT, which the threads cannot notice. */
#include "proof/stopped_threads.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "proof/arch.h"
#include "proof/end_watch.h"

/*
 * Interval between polls of all threads, in nanoseconds. Polls are needed because several SIGCHLD
 * signals may arrive as one.
 */
#define ASK_NS 500000ULL

void stopped_threads_prepare(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

int stopped_threads_signal_fd(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

void stopped_threads_drain_signals(int fd)
{
	struct signalfd_siginfo info;

	while (fd >= 0 && read(fd, &info, sizeof(info)) == sizeof(info))
		;
}

struct stopped_thread *stopped_threads_find(const struct stopped_threads *stopped, pid_t tid)
{
	size_t at = bisect_below(stopped->items, stopped->cnt, tid, (uint32_t)tid);

	return at < stopped->cnt && stopped->items[at].tid == tid ? &stopped->items[at] : NULL;
}

/*
 * Returns the result of stopped_threads_add() for a thread that cannot be traced: -EBUSY if another
 * process traces it; 0 if it is about to end.
 */
static int why_not(pid_t tid)
{
	cleanup_free char *status = NULL;

	if (errno == ESRCH || proc_read(tid, "status", &status))
		return 0;
	return proc_status_number(status, "TracerPid") > 0 ? -EBUSY : 0;
}

int stopped_threads_add(struct stopped_threads *stopped, pid_t tid)
{
	size_t at = bisect_below(stopped->items, stopped->cnt, tid, (uint32_t)tid);

	if (at < stopped->cnt && stopped->items[at].tid == tid)
		return 0;
	if (array_reserve(&stopped->items, &stopped->cap, stopped->cnt + 1))
		return -ENOMEM;
	if (!stopped->since_ns)
		stopped->since_ns = clock_ns(CLOCK_MONOTONIC);
	if (!end_watch_traces(tid) && ptrace(PTRACE_SEIZE, tid, NULL, NULL))
		return why_not(tid);
	array_open(stopped->items, stopped->cnt, at);
	stopped->cnt++;
	stopped->items[at] = (struct stopped_thread){.tid = tid};
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL))
		stopped->items[at].gone = true;
	return 0;
}

static int event_of(int status)
{
	return (int)((unsigned int)status >> 16);
}

/*
 * Delivers a pending signal to the thread. The stop for this signal has cancelled PTRACE_INTERRUPT.
 * So first repeats PTRACE_INTERRUPT: after the delivery, the thread stops again before it runs any
 * code.
 */
static void deliver_signal(const struct stopped_thread *thread, int status)
{
	ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL);
	ptrace(PTRACE_CONT, thread->tid, NULL,
	       (void *)(long)(event_of(status) ? 0 : WSTOPSIG(status)));
}

/* Polls a thread. True if it has stopped or ended. */
static bool ask(struct stopped_thread *thread)
{
	int status;
	pid_t pid = waitpid(thread->tid, &status, __WALL | WNOHANG);
	enum end_event event;

	if (!pid)
		return false;
	event = pid > 0 && WIFSTOPPED(status) ? end_watch_event(thread->tid, status)
					      : END_EVENT_THREAD;
	if (event != END_EVENT_NONE) {
		thread->stopped = event == END_EVENT_PROCESS;
		thread->gone = !thread->stopped;
	} else if (event_of(status) == PTRACE_EVENT_STOP) {
		thread->stopped = true;
		thread->stopped_by_signal = WSTOPSIG(status) != SIGTRAP;
	} else {
		deliver_signal(thread, status);
	}
	return true;
}

/* Waits for SIGCHLD, for at most ASK_NS. */
static void wait_for_news(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), wait_ns = ASK_NS;
	struct timespec wait;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (deadline_ns < now_ns + wait_ns)
		wait_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	wait = (struct timespec){.tv_nsec = (long)wait_ns};
	sigtimedwait(&set, NULL, &wait);
}

int stopped_threads_wait(struct stopped_threads *stopped, uint64_t deadline_ns)
{
	for (;;) {
		bool news = false, all = true;

		for (size_t i = 0; i < stopped->cnt; i++) {
			struct stopped_thread *thread = &stopped->items[i];

			if (thread->stopped || thread->gone)
				continue;
			news |= ask(thread);
			all &= thread->stopped || thread->gone;
		}
		if (all)
			return 0;
		if (clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -ETIMEDOUT;
		if (!news)
			wait_for_news(deadline_ns);
	}
}

int stopped_thread_next_stop(pid_t tid, uint64_t deadline_ns)
{
	for (;;) {
		int status;
		pid_t pid = waitpid(tid, &status, __WALL | WNOHANG);

		if (pid < 0 || (pid > 0 && !WIFSTOPPED(status)))
			return -ECHILD;
		if (pid > 0)
			return status;
		if (clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
			return -ETIMEDOUT;
		wait_for_news(deadline_ns);
	}
}

/*
 * Makes the thread restart a system call that would otherwise fail with EINTR because the thread
 * was stopped.
 */
static void mend_call(pid_t tid, const struct live_threads *before)
{
	const struct memleak_thread_record *was = before ? live_threads_find(before, tid) : NULL;
	__u64 registers[MEMLEAK_REGISTER_WORDS] = {0};
	struct iovec iov = {registers, sizeof(registers)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &iov) ||
	    !registers_were_cut_off(registers, was ? was->registers : NULL))
		return;
	registers_begin_again(registers, was ? was->registers : NULL);
	ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &iov);
}

bool stopped_threads_resume(struct stopped_threads *stopped, const struct live_threads *before)
{
	size_t left = 0;

	for (size_t i = 0; i < stopped->cnt; i++) {
		struct stopped_thread *thread = &stopped->items[i];

		if (!thread->stopped && !thread->gone)
			ask(thread);
		if (thread->gone)
			continue;
		if (!thread->stopped) {
			stopped->items[left++] = *thread;
			continue;
		}
		mend_call(thread->tid, before);
		if (end_watch_is(thread->tid))
			end_watch_go_on(thread->tid, thread->stopped_by_signal);
		else
			ptrace(PTRACE_DETACH, thread->tid, NULL, NULL);
	}
	stopped->cnt = left;
	return !left;
}

void stopped_threads_deinit(struct stopped_threads *stopped)
{
	free(stopped->items);
	*stopped = (struct stopped_threads){0};
}
