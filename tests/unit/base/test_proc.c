// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading /proc of processes with misleading names. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file_id.h"
#include "base/proc.h"

static const char *const hostile[] = {
	"\n",
	"",
	"a\nb",
	"x) R 1 2 (y",
	"\nTgid:\t1\nUid:\t",
	"\nSeccomp: 2\n",
	"name\n",
	"\n\n\n",
	"\xff\xfe\x80\xc3(",
	"\x1b[2J\\n\t\x01\x7f",
	"fifteen bytes..",
};

static void names_are_not_escaped(void **state)
{
	char before[17];

	prctl(PR_GET_NAME, before);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		char *comm, *thread;

		assert_int_equal(prctl(PR_SET_NAME, hostile[i]), 0);
		comm = proc_comm(getpid());
		thread = proc_thread_comm(getpid(), (pid_t)syscall(SYS_gettid));
		assert_string_equal(comm, hostile[i]);
		assert_string_equal(thread, hostile[i]);
		free(comm);
		free(thread);
	}
	prctl(PR_SET_NAME, before);
}

static void names_make_no_fields(void **state)
{
	char before[17], *status;
	unsigned int uid;

	prctl(PR_GET_NAME, before);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		prctl(PR_SET_NAME, hostile[i]);
		assert_int_equal(proc_read(getpid(), "status", &status), 0);
		assert_int_equal(proc_status_number(status, "Tgid"), getpid());
		assert_int_equal(proc_status_number(status, "PPid"), getppid());
		assert_int_not_equal(proc_status_number(status, "Seccomp"), -1);
		assert_int_equal(sscanf(proc_status_field(status, "Uid"), "%u", &uid), 1);
		assert_int_equal(uid, getuid());
		free(status);
	}
	prctl(PR_SET_NAME, before);
}

static void fields_are_whole_words_at_the_start_of_lines(void **state)
{
	const char *status =
		"Name:\tTgid: 5\nTgidmore:\t1\nTgid:\t77\nEmpty:\t\nSome:\tx 3\nLast:9";

	assert_int_equal(proc_status_number(status, "Tgid"), 77);
	assert_int_equal(proc_status_number(status, "Last"), 9);
	assert_int_equal(proc_status_number(status, "Empty"), -1);
	assert_int_equal(proc_status_number(status, "Some"), -1);
	assert_int_equal(proc_status_number(status, "gid"), -1);
	assert_int_equal(proc_status_number(status, "Tgidm"), -1);
	assert_null(proc_status_field(status, "None"));
	assert_null(proc_status_field("", "None"));
	assert_int_equal(strncmp(proc_status_field(status, "Name"), "Tgid: 5\n", 8), 0);
}

static void what_is_gone_is_an_error(void **state)
{
	pid_t pid = fork();
	char *text = NULL;
	int fd;

	if (!pid) {
		pause();
		_exit(0);
	}
	fd = proc_open(pid, "status", O_RDONLY);
	assert_true(fd >= 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_int_equal(proc_read(pid, "status", &text), -ENOENT);
	assert_null(proc_comm(pid));
	assert_int_equal(proc_open(pid, "exe", O_RDONLY), -ENOENT);
	assert_int_equal(proc_read_fd(fd, &text, NULL), 0);
	assert_string_equal(text, "");
	free(text);
	close(fd);
}

static void long_files_are_whole(void **state)
{
	char name[] = "/tmp/memleak_proc_XXXXXX", *text;
	size_t len = 100003, got;
	char *bytes = malloc(len);
	int fd = mkstemp(name);

	unlink(name);
	memset(bytes, 'x', len);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(proc_read_fd(fd, &text, &got), 0);
	assert_int_equal(got, len);
	assert_int_equal(strlen(text), len);
	free(text);
	free(bytes);
	close(fd);
}

static void another_version_is_another_file(void **state)
{
	struct stat st = {.st_dev = 1, .st_ino = 2, .st_size = 3, .st_mtim = {4, 5}}, other = st;
	struct file_version a = file_version_of(&st), b;

	assert_true(is_same_file(&st, &other));
	b = file_version_of(&other);
	assert_true(file_version_equal(&a, &b));
	b.mtime.tv_nsec++;
	assert_false(file_version_equal(&a, &b));
	assert_true(file_id_equal(&a.id, &b.id));
	other.st_dev = 9;
	b.id = file_id_of(&other);
	assert_false(file_id_equal(&a.id, &b.id));
	assert_false(is_same_file(&st, &other));
}

/*
 * The CPU time of a process includes that of its ended children. It is the sum of four numbers,
 * each of which the kernel rounds down to 10 ms.
 */
static void cpu_time_is_that_of_the_process(void **state)
{
	uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
		 reported_ns = proc_cpu_ns(getpid());

	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < before_ns + 100000000)
		;
	reported_ns = proc_cpu_ns(getpid()) - reported_ns;
	assert_in_range(reported_ns, 60000000,
			clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before_ns + 40000000);
	assert_int_equal(proc_cpu_ns(INT_MAX), 0);
}

/* The kernel rounds the start of a process down to 10 ms. */
static void age_is_that_of_the_process(void **state)
{
	uint64_t begin_ns = clock_ns(CLOCK_BOOTTIME), age_ns, end_ns;
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	assert_true(child > 0);
	while (clock_ns(CLOCK_BOOTTIME) < begin_ns + 50000000)
		;
	age_ns = proc_age_ns(child);
	end_ns = clock_ns(CLOCK_BOOTTIME);
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_in_range(age_ns, 1, end_ns - begin_ns + 10000000);
	assert_true(proc_age_ns(getpid()) >= age_ns);
	assert_true(proc_age_ns(INT_MAX) == UINT64_MAX);
}

/* Runs on one processor until this process has used cpu_ns. */
static void spin(const cpu_set_t *one, uint64_t cpu_ns)
{
	uint64_t before_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	assert_int_equal(sched_setaffinity(0, sizeof(*one), one), 0);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < before_ns + cpu_ns)
		;
}

/* Each of two processes on one processor waits while the other runs. */
static void waiting_for_a_processor_is_delay(void **state)
{
	uint64_t before_ns = proc_delay_ns(getpid()), after_ns;
	cpu_set_t one, all;
	pid_t other;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	other = fork();
	if (!other) {
		spin(&one, 100000000);
		_exit(0);
	}
	assert_true(other > 0);
	spin(&one, 100000000);
	assert_int_equal(waitpid(other, NULL, 0), other);
	after_ns = proc_delay_ns(getpid());
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	assert_true(after_ns - before_ns > 10000000);
	assert_int_equal(proc_delay_ns(INT_MAX), 0);
}

static int sleep_on(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

/* Starts a process that sleeps; returns its pid. flags: CLONE_VM for one in the memory of this. */
static pid_t start_sleeper(int flags)
{
	static char stacks[2][16384] __attribute__((aligned(16)));
	char *stack = stacks[!flags];
	pid_t pid = clone(sleep_on, stack + sizeof(stacks[0]), flags | SIGCHLD, NULL);

	assert_true(pid > 0);
	return pid;
}

static void shared_memory_is_found(void **state)
{
	pid_t sharer = start_sleeper(CLONE_VM), other = start_sleeper(0), tids[1000] = {0};
	const size_t cnt = sizeof(tids) / sizeof(*tids);

	assert_int_equal(proc_memory_thread(getpid()), getpid());
	assert_int_equal(proc_memory_thread(INT_MAX), 0);
	assert_true(proc_share_memory(getpid(), sharer));
	assert_false(proc_share_memory(getpid(), other));
	assert_int_equal(proc_find_memory(sharer, tids, 0), 0);
	assert_int_equal(proc_find_memory(sharer, tids, cnt), cnt);
	tids[0] = other;
	tids[cnt - 1] = getpid();
	assert_int_equal(proc_find_memory(sharer, tids, cnt), cnt - 1);
	assert_int_equal(proc_find_memory(other, tids, cnt), 0);
	assert_int_equal(proc_find_memory(sharer, tids, cnt - 1), cnt - 1);
	tids[700] = sharer;
	assert_int_equal(proc_find_memory(getpid(), tids, cnt), 700);
	for (int i = 0; i < 2; i++) {
		pid_t pid = i ? other : sharer;

		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_not_escaped),
		cmocka_unit_test(names_make_no_fields),
		cmocka_unit_test(fields_are_whole_words_at_the_start_of_lines),
		cmocka_unit_test(what_is_gone_is_an_error),
		cmocka_unit_test(long_files_are_whole),
		cmocka_unit_test(another_version_is_another_file),
		cmocka_unit_test(cpu_time_is_that_of_the_process),
		cmocka_unit_test(age_is_that_of_the_process),
		cmocka_unit_test(waiting_for_a_processor_is_delay),
		cmocka_unit_test(shared_memory_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
