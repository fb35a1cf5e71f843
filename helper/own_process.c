// SPDX-License-Identifier: GPL-2.0-or-later
/* Closes inherited files, and resets inherited signal handling. */
#include "helper/own_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "helper/confine.h"

#define FIRST 3
#define FILES_MAX 8

static void close_from(unsigned int first)
{
	struct rlimit limit;
	int max = 1 << 16;

	/* Call the system call directly: older C libraries have no close_range(). */
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < 1UL << 20)
		max = limit.rlim_cur;
	for (int fd = first; fd < max; fd++)
		close(fd);
}

/*
 * Moves the files to high descriptors first. Their present descriptors may be low (if the parent
 * has closed its standard files), and would be overwritten before the files are moved.
 */
void own_process_keep_files(const int *files, size_t cnt)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), moved[FILES_MAX];

	for (size_t i = 0; i < cnt; i++)
		moved[i] = fcntl(files[i], F_DUPFD_CLOEXEC, FIRST + FILES_MAX);
	if (null >= 0 && null < FIRST)
		null = fcntl(null, F_DUPFD_CLOEXEC, FIRST + FILES_MAX);
	for (int fd = 0; fd <= (HELPER_SANITIZED ? 1 : 2); fd++) {
		if (null < 0)
			close(fd);
		else
			dup2(null, fd);
	}
	for (size_t i = 0; i < cnt; i++)
		dup3(moved[i], FIRST + (int)i, O_CLOEXEC);
	close_from(FIRST + (unsigned int)cnt);
}

void own_process_reset_signals(void)
{
	static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGTSTP,
				      SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
