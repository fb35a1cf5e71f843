// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks the system calls that threads wait in, how the reaper of orphans handles SIGCHLD, and the
 * free memory.
 */
#include "proof/copy_risks.h"

#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc.h"
#include "loader/target/memory_limit.h"
#include "loader/target/pid_namespace.h"
#include "proof/arch.h"

/* Options with which wait4() and waitid() also return children without an exit signal. */
#define WAITS_FOR_ALL ((uint32_t)__WALL | (uint32_t)__WCLONE)

/*
 * WRITTEN_PART: the process is expected to write to at most 1/WRITTEN_PART of its memory while the
 * copy exists.
 */
#define WRITTEN_PART 4

static bool waits_for_all(const struct memleak_thread_record *thread)
{
	long call = thread->flags & MEMLEAK_THREAD_KNOWN ? registers_call(thread->registers) : -1;
	uint64_t options = 0;

	/*
	 * Threads that trace other threads usually call wait4() with __WALL. Assume that this
	 * thread does so during the copy, even if it is in no system call now.
	 */
	if (thread->flags & MEMLEAK_THREAD_TRACES)
		return true;
	if (call == SYS_wait4)
		options = registers_argument(thread->registers, 2);
	else if (call == SYS_waitid)
		options = registers_argument(thread->registers, 3);
	return options & WAITS_FOR_ALL;
}

/* Parses a signal mask of /proc/PID/status. */
static uint64_t signals_in(const char *status, const char *field)
{
	const char *text = proc_status_field(status, field);

	return text ? strtoull(text, NULL, 16) : 0;
}

/*
 * True if the process handles, ignores or blocks SIGCHLD, and so presumably reaps orphans. Also
 * true for the first process of the machine, which may poll for orphans instead. The first process
 * of a container may be any program, so its signals are checked like those of other processes.
 */
static bool takes_orphans(pid_t pid)
{
	const uint64_t bit = 1ULL << (SIGCHLD - 1);
	cleanup_free char *status = NULL;

	if (pid == 1 && !pid_namespace_own())
		return true;
	if (pid <= 0 || proc_read(pid, "status", &status))
		return false;
	return (signals_in(status, "SigBlk") | signals_in(status, "SigIgn") |
		signals_in(status, "SigCgt")) &
	       bit;
}

bool copy_is_unseen(pid_t pid, const struct live_threads *threads)
{
	for (size_t i = 0; i < threads->cnt; i++)
		if (waits_for_all(threads->items[i]))
			return false;
	return threads->reaper != pid && takes_orphans(threads->reaper);
}

bool copy_has_room(pid_t pid)
{
	struct memory_limit limit = memory_limit_of(pid);
	cleanup_free char *statm = NULL;
	uint64_t pages = 0;

	if (proc_read(pid, "statm", &statm) || sscanf(statm, "%*u %" SCNu64, &pages) != 1)
		return false;
	return limit.cgroup_left > pages * (uint64_t)sysconf(_SC_PAGESIZE) / WRITTEN_PART;
}
