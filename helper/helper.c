// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts, confines and ends helper processes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/turns.h"
#include "helper/helper.h"

#if HELPER_SANITIZED
/* In the helper, whose _exit() passes over the sanitizer's own check. */
void __lsan_do_leak_check(void);
static bool forked_by_main;
#endif

/* What a helper ends with that could not give up its rights. */
#define NOT_CONFINED 3

static struct helper *running;
static uint64_t stopped_cpu_ns;

static void close_from(unsigned int first)
{
	struct rlimit limit;
	int max = 1 << 16;

	/* By number: the C library's wrapper is younger than some systems we run on. */
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 1UL << 20)
		max = limit.rlim_cur;
	for (int fd = first; fd < max; fd++)
		close(fd);
}

/* Moves sock to 3 and puts /dev/null below it, so that nothing of the caller's stays open. */
static int keep_only(int sock)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* sock and null may be anywhere, even on 0..3 when the caller closed its own. */
	if (sock < 4)
		sock = fcntl(sock, F_DUPFD_CLOEXEC, 4);
	if (null >= 0 && null < 4)
		null = fcntl(null, F_DUPFD_CLOEXEC, 4);
	for (int fd = 0; fd <= (HELPER_SANITIZED ? 1 : 2); fd++) {
		if (null < 0)
			close(fd);
		else
			dup2(null, fd);
	}
	dup3(sock, 3, O_CLOEXEC);
	close_from(4);
	return 3;
}

/*
 * The terminal's signals and requests are for the parent, which ends us; all others do what they
 * usually do.
 */
static void reset_signals(void)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
				      SIGTSTP, SIGPIPE, SIGUSR1, SIGUSR2};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Each module takes a few files, and there may be hundreds. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void child_main(const struct helper_kind *kind, pid_t parent, int sock)
{
	reset_signals();
	sock = keep_only(sock);
	raise_file_limit();
	if (kind->niceness)
		setpriority(PRIO_PROCESS, 0, kind->niceness);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (kind->rights == HELPER_DROPS_RIGHTS && confine())
		_exit(NOT_CONFINED);
	if (getppid() == parent)
		kind->work(sock);
#if HELPER_SANITIZED
	/*
	 * The network libraries, which the other helper loads, do leak. In a child of another
	 * thread than the main one, what is only on the main thread's stack looks leaked.
	 */
	if (kind->rights == HELPER_DROPS_RIGHTS && forked_by_main)
		__lsan_do_leak_check();
#endif
	_exit(0);
}

int helper_start(struct helper *helper)
{
	pid_t parent = getpid();
	int socks[2];
	pid_t pid;

	if (helper->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
#if HELPER_SANITIZED
	forked_by_main = syscall(SYS_gettid) == parent;
#endif
	pid = fork();
	if (pid < 0) {
		int err = -errno;

		close(socks[0]);
		close(socks[1]);
		return err;
	}
	if (!pid) {
		turn_forget();
		prctl(PR_SET_NAME, helper->kind->name, 0, 0, 0);
		child_main(helper->kind, parent, socks[1]);
	}
	close(socks[1]);
	helper->pid = pid;
	helper->sock = socks[0];
	helper->incarnation++;
	helper->next = running;
	running = helper;
	return 0;
}

/* True once the child has ended: it has no other process that could hold its socket. */
static bool has_ended(int sock, unsigned int within_ms)
{
	uint64_t deadline_ns = clock_deadline_ns((uint64_t)within_ms * 1000000);
	struct message rest = {.fd = -1};
	int err;

	do {
		message_reset(&rest);
		err = message_receive(sock, &rest, deadline_ns);
	} while (!err);
	message_deinit(&rest);
	return err == -EPIPE;
}

const struct helper *helper_running(void)
{
	return running;
}

uint64_t helper_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

uint64_t helper_stopped_cpu_ns(void)
{
	return stopped_cpu_ns;
}

static void forget(struct helper *helper)
{
	struct helper **link = &running;

	while (*link != helper)
		link = &(*link)->next;
	*link = helper->next;
	stopped_cpu_ns += helper_cpu_ns(helper->pid);
}

void helper_stop(struct helper *helper, unsigned int grace_ms)
{
	int status = 0;

	if (helper->pid <= 0)
		return;
	shutdown(helper->sock, SHUT_WR);
	if (!grace_ms || !has_ended(helper->sock, grace_ms))
		kill(helper->pid, SIGKILL);
	close(helper->sock);
	/* As long as it has not been waited for, its time is known. */
	forget(helper);
	/* -ECHILD when the program ignores SIGCHLD: then it is gone as well. */
	while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_CONFINED)
		log_error("the %s cannot give up its rights here, so it does not run",
			  helper->kind->name);
	/* A sanitizer found something in the helper: its report is no use if nobody fails. */
	if (HELPER_SANITIZED && grace_ms && WIFEXITED(status) && WEXITSTATUS(status))
		abort();
	helper->pid = 0;
	helper->sock = -1;
	message_reset(&helper->answer);
}

void helper_deinit(struct helper *helper, unsigned int grace_ms)
{
	helper_stop(helper, grace_ms);
	message_deinit(&helper->answer);
}
