// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and ends helper processes through the starter. */
#include "helper/helper.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proc.h"
#include "helper/starter.h"

static struct helper *running;
static uint64_t stopped_cpu_ns;

int helper_start(struct helper *helper)
{
	int socks[2];
	pid_t pid;

	if (helper->pid)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
	pid = starter_fork(helper->kind, socks[1]);
	if (pid < 0) {
		close(socks[0]);
		return pid;
	}
	helper->pid = pid;
	helper->sock = socks[0];
	helper->incarnation++;
	helper->awaits_answer = false;
	helper->message_cpu_ns = 0;
	helper->next = running;
	running = helper;
	return 0;
}

/*
 * Waits up to within_ms for the helper to close its end of the socket. Returns true if it did: the
 * helper has then ended, since it has no children that could keep the socket open.
 */
static bool has_ended(int sock, unsigned int within_ms)
{
	uint64_t deadline_ns = clock_deadline_ns((uint64_t)within_ms * 1000000);
	struct message rest = {.fd = -1};
	int err;

	do {
		message_reset(&rest);
		err = message_receive(sock, &rest, deadline_ns);
	} while (!err && clock_left_ms(deadline_ns));
	message_deinit(&rest);
	return err == -EPIPE;
}

const struct helper *helper_running(void)
{
	return running;
}

bool helper_is_runnable(const struct helper *helper)
{
	cleanup_free char *status = NULL;
	const char *state;

	if (helper->pid <= 0 || proc_read(helper->pid, "status", &status))
		return false;
	state = proc_status_field(status, "State");
	return state && *state == 'R';
}

uint64_t helper_cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		return 0;
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

void helper_note_message(struct helper *helper, bool is_request)
{
	helper->awaits_answer = is_request;
	helper->message_cpu_ns = helper_cpu_ns(helper->pid);
}

void helpers_end_spinning(uint64_t most_ns)
{
	struct helper *next;

	for (struct helper *helper = running; helper; helper = next) {
		next = helper->next;
		if (HELPER_SANITIZED || helper->awaits_answer ||
		    helper->kind->rights != HELPER_DROPS_RIGHTS ||
		    helper_cpu_ns(helper->pid) <= helper->message_cpu_ns + most_ns)
			continue;
		log_note("the %s uses CPU time although it has nothing to do, and is ended",
			 helper->kind->name);
		helper_stop(helper, 0);
	}
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
	bool to_kill;
	int status;

	if (helper->pid <= 0)
		return;
	shutdown(helper->sock, SHUT_WR);
	to_kill = !grace_ms || !has_ended(helper->sock, grace_ms);
	close(helper->sock);
	/* Read the CPU time before reaping the process: afterwards it is lost. */
	forget(helper);
	status = starter_wait(helper->pid, to_kill);
	if (status < 0)
		status = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == STARTER_NOT_CONFINED)
		log_error("the %s cannot drop its privileges on this system and is disabled",
			  helper->kind->name);
	/* If a sanitizer found an error in the helper, fail here, so that tests notice. */
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
