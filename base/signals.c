// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks signals and reads them from a signalfd. */
#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool is_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * Adds the termination signals to a set. Leaves out SIGHUP if it is ignored (nohup), since a
 * signalfd would deliver it even then.
 */
static void add_end_signals(sigset_t *set)
{
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	if (!is_ignored(SIGHUP))
		sigaddset(set, SIGHUP);
}

static void add_requests(sigset_t *set)
{
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGUSR2);
}

int signals_hold_requests(void)
{
	sigset_t set;

	/*
	 * Stop ignoring SIGINT: shell scripts start background jobs with SIGINT ignored, but
	 * SIGINT should end memleak even in a background job.
	 */
	signal(SIGINT, SIG_DFL);
	sigemptyset(&set);
	add_requests(&set);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

int signals_hold_all(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_end_signals(&set);
	add_requests(&set);
	/*
	 * Make writes fail with an error, not with a signal, if the reader has gone or the file
	 * reaches its size limit (ulimit -f).
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -errno : 0;
}

void signals_release_end(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_end_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

bool signals_end_pending(void)
{
	sigset_t ends, pending;

	sigemptyset(&ends);
	add_end_signals(&ends);
	return sigpending(&pending) == 0 && sigandset(&pending, &pending, &ends) == 0 &&
	       !sigisemptyset(&pending);
}

void signals_renew_end(void)
{
	const struct timespec now = {0};
	sigset_t set;

	sigemptyset(&set);
	add_end_signals(&set);
	while (sigtimedwait(&set, NULL, &now) > 0 || errno == EINTR)
		;
	signals_release_end();
}

int signals_open(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	add_end_signals(&set);
	add_requests(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

enum request signals_read(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return REQUEST_NONE;
	if (info.ssi_signo == SIGUSR1)
		return REQUEST_REPORT;
	if (info.ssi_signo == SIGUSR2)
		return REQUEST_BASELINE;
	return REQUEST_END;
}
