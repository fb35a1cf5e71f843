// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses PTRACE_O_TRACEEXIT (ptrace(2)), which stops an ending thread while its memory still exists.
 * Traces only the main thread: when the process exits, the main thread always ends, whichever
 * thread called exit(). If the main thread ends alone, traces another thread instead. The first
 * other thread must be a child of the main thread, so PTRACE_O_TRACECLONE reports it. The kernel
 * attaches the tracer to that thread, too.
 */
#include "proof/end_watch.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"

static struct {
	pid_t pid; /* pid of the watched process, 0 if none */
	pid_t tid; /* tid of the only traced thread of this process */
	int fd;
	bool is_at_end;
	bool notes_threads;
	bool has_had_threads; /* since the last exec; known only with notes_threads */
	pid_t newborn;        /* first other thread until it is detached, 0 if there is none */
} watched;

static long options(void)
{
	if (!watched.notes_threads)
		return PTRACE_O_TRACEEXIT;
	return PTRACE_O_TRACEEXIT | PTRACE_O_TRACEEXEC |
	       (watched.has_had_threads ? 0 : PTRACE_O_TRACECLONE);
}

static void forget(void)
{
	close(watched.fd);
	watched.pid = 0;
	watched.is_at_end = false;
}

int end_watch_begin(pid_t pid, bool notes_threads, int fd)
{
	if (watched.pid)
		return -EALREADY;
	watched.notes_threads = notes_threads;
	watched.has_had_threads = false;
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)options()))
		return -errno;
	watched.pid = watched.tid = pid;
	watched.fd = fd;
	return 0;
}

bool end_watch_is(pid_t tid)
{
	return watched.pid && watched.tid == tid;
}

bool end_watch_traces(pid_t tid)
{
	return end_watch_is(tid) || (tid && watched.newborn == tid);
}

bool end_watch_has_had_threads(void)
{
	return watched.has_had_threads;
}

pid_t end_watch_tid(void)
{
	return watched.pid ? watched.tid : 0;
}

pid_t end_watch_at_end(pid_t pid)
{
	return watched.pid == pid && watched.is_at_end ? watched.tid : 0;
}

static bool is_traced_already(pid_t tid)
{
	cleanup_free char *status = NULL;

	return !proc_read(tid, "status", &status) &&
	       proc_status_number(status, "TracerPid") == getpid();
}

/*
 * Begins to trace the thread. A thread that another module of the tracer has stopped is traced
 * already; it gets its options when it resumes.
 */
static bool watch_thread(pid_t tid)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options()) && !is_traced_already(tid))
		return false;
	watched.tid = tid;
	return true;
}

/* Traces a living thread of the process, other than `but`. False if there is none. */
static bool watch_another(pid_t but)
{
	struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)watched.pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		found = tid > 0 && tid != but && proc_shows_memory(tid) && watch_thread(tid);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* True if the thread ends by pthread_exit(), not by exit(). */
static bool ends_alone(pid_t tid)
{
	cleanup_free char *call = NULL;

	/*
	 * /proc/PID/syscall has the number and arguments of the system call, or -1 if the thread is
	 * in no system call.
	 */
	return !proc_read(tid, "syscall", &call) && strtol(call, NULL, 10) == SYS_exit;
}

static int event_of(int status)
{
	return (int)((unsigned int)status >> 16);
}

static void note_birth(pid_t tid)
{
	unsigned long newborn;

	watched.has_had_threads = true;
	if (!ptrace(PTRACE_GETEVENTMSG, tid, NULL, &newborn))
		watched.newborn = (pid_t)newborn;
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options());
}

/* Notes that the memory of all earlier threads is gone. */
static void note_exec(pid_t tid)
{
	watched.has_had_threads = watched.newborn;
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options());
}

/* Detaches the newborn thread once it has stopped, which it does before it runs any code. */
static void release_newborn(void)
{
	pid_t pid;
	int status;

	if (!watched.newborn)
		return;
	pid = waitpid(watched.newborn, &status, __WALL | WNOHANG);
	if (!pid)
		return;
	if (pid > 0 && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, watched.newborn, NULL, NULL);
	watched.newborn = 0;
}

enum end_event end_watch_event(pid_t tid, int status)
{
	const uint64_t one = 1;

	if (!end_watch_is(tid))
		return END_EVENT_NONE;
	if (event_of(status) == PTRACE_EVENT_CLONE)
		note_birth(tid);
	if (event_of(status) == PTRACE_EVENT_EXEC)
		note_exec(tid);
	if (event_of(status) != PTRACE_EVENT_EXIT)
		return END_EVENT_NONE;
	if (ends_alone(tid) && watch_another(tid)) {
		ptrace(PTRACE_DETACH, tid, NULL, NULL);
		return END_EVENT_THREAD;
	}
	watched.is_at_end = true;
	while (write(watched.fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	return END_EVENT_PROCESS;
}

void end_watch_go_on(pid_t tid, bool stopped)
{
	if (watched.is_at_end)
		return;
	ptrace(PTRACE_SETOPTIONS, tid, NULL, (void *)options());
	ptrace(stopped ? PTRACE_LISTEN : PTRACE_CONT, tid, NULL, NULL);
}

/* Handles a stop; resumes the thread unless it is about to end. */
static void handle(pid_t tid, int status)
{
	if (end_watch_event(tid, status) != END_EVENT_NONE)
		return;
	if (event_of(status) == PTRACE_EVENT_STOP)
		end_watch_go_on(tid, WSTOPSIG(status) != SIGTRAP);
	else
		ptrace(PTRACE_CONT, tid, NULL,
		       (void *)(long)(event_of(status) ? 0 : WSTOPSIG(status)));
}

void end_watch_poll(bool is_stopping)
{
	int status;

	release_newborn();
	while (watched.pid && !watched.is_at_end && !is_stopping) {
		pid_t tid = waitpid(watched.tid, &status, __WALL | WNOHANG);

		if (!tid)
			return;
		if (tid > 0 && WIFSTOPPED(status))
			handle(tid, status);
		else if (!watch_another(0))
			forget();
	}
	release_newborn();
}

void end_watch_release(void)
{
	if (!watched.is_at_end)
		return;
	ptrace(PTRACE_DETACH, watched.tid, NULL, NULL);
	forget();
}
