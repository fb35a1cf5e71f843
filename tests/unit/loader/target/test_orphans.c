// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which processes count as orphans of a program. The processes are forked from this test; one
 * of them is the subreaper that adopts orphans.
 */
#include "loader/target/orphans.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "loader/target/cgroups.h"

enum { MASTER, CHILD, ORPHAN, OTHER_SESSION, PROCESS_CNT };

static pid_t pids[PROCESS_CNT];

/* Runs until the pipe ends, which is when this test ends. Never returns. */
static void wait_for_end(int output, int input)
{
	char byte;

	close(output);
	while (read(input, &byte, 1) > 0)
		;
	_exit(0);
}

/* Starts a process that sleeps; returns its pid. */
static pid_t start_sleeper(const int end[2])
{
	pid_t pid = fork();

	if (!pid)
		wait_for_end(end[1], end[0]);
	return pid;
}

/* Starts a process that sleeps and whose parent has ended. Returns its pid. */
static pid_t start_orphan(const int end[2], bool in_session)
{
	int report[2];
	pid_t pid, starter;

	if (pipe(report))
		return -1;
	starter = fork();
	if (!starter) {
		if (in_session)
			setsid();
		pid = start_sleeper(end);
		_exit(write(report[1], &pid, sizeof(pid)) != sizeof(pid));
	}
	if (waitpid(starter, NULL, 0) != starter || read(report[0], &pid, sizeof(pid)) < 0)
		return -1;
	return pid;
}

/* Makes all processes but the reaper, and sends their pids. Never returns. */
static void run_master(const int end[2], int out)
{
	pids[MASTER] = getpid();
	pids[CHILD] = start_sleeper(end);
	pids[ORPHAN] = start_orphan(end, false);
	pids[OTHER_SESSION] = start_orphan(end, true);
	if (write(out, pids, sizeof(pids)) != sizeof(pids))
		_exit(1);
	wait_for_end(end[1], end[0]);
}

/* Starts the master from another process: the parent of the master would not count as adopting. */
static void run_reaper(const int end[2], int out)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	start_orphan(end, false); /* older than the master: not its orphan */
	usleep(50000);            /* more than a clock tick, in which the ages of processes count */
	if (!fork()) {
		if (!fork())
			run_master(end, out);
		wait_for_end(end[1], end[0]);
	}
	wait_for_end(end[1], end[0]);
}

static int start(void **state)
{
	static int end[2];
	int report[2];

	(void)state;
	if (pipe(end) || pipe(report))
		return -1;
	if (!fork())
		run_reaper(end, report[1]);
	return read(report[0], pids, sizeof(pids)) == sizeof(pids) ? 0 : -1;
}

/* arg: pid of a traced process; NULL if none is traced */
static bool is_traced(const void *arg, pid_t pid)
{
	return arg && *(const pid_t *)arg == pid;
}

static uint64_t count(pid_t pid, const pid_t *traced)
{
	struct footprint footprint = {.is_known = true};
	struct program_list list = {0};

	orphans_read(&list, pid, is_traced, traced, &footprint);
	program_list_deinit(&list);
	assert_int_equal(*footprint.orphan != '\0', footprint.parts[FOOTPRINT_ORPHANS] != 0);
	return footprint.parts[FOOTPRINT_ORPHANS];
}

static void orphans(void **state)
{
	cleanup_free char *cgroup = cgroup_of_process(getpid());
	uint64_t by_cgroup = cgroup != NULL;

	/* The orphan in another session counts only if the cgroups of processes are known. */
	assert_int_equal(count(pids[MASTER], NULL), 1 + by_cgroup);
	assert_int_equal(count(pids[MASTER], &pids[ORPHAN]), by_cgroup);
	assert_int_equal(count(pids[CHILD], &pids[MASTER]), 0);
	assert_int_equal(count(getpid(), NULL), 0);
}

/* /proc is not read again for further processes of a report. */
static void one_list(void **state)
{
	struct program_list list = {.is_read = true};
	struct footprint footprint = {.is_known = true};

	orphans_read(&list, pids[MASTER], is_traced, NULL, &footprint);
	assert_int_equal(footprint.parts[FOOTPRINT_ORPHANS], 0);
}

/* Returns the number of reads that this process made before. */
static uint64_t reads(void)
{
	int fd = open("/proc/self/io", O_RDONLY | O_CLOEXEC);
	char text[512] = "";
	uint64_t cnt;

	assert_true(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_int_equal(sscanf(strstr(text, "syscr:"), "syscr: %" SCNu64, &cnt), 1);
	return cnt;
}

/* Further processes of a report need no further reads of other processes. */
static void processes_are_read_once(void **state)
{
	struct footprint footprint = {.is_known = true};
	struct program_list list = {0};
	uint64_t before;

	orphans_read(&list, getpid(), is_traced, NULL, &footprint);
	before = reads();
	orphans_read(&list, getpid(), is_traced, NULL, &footprint);
	assert_int_equal(reads(), before + 1); /* reads() itself reads once */
	program_list_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(orphans, start),
		cmocka_unit_test(one_list),
		cmocka_unit_test(processes_are_read_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
