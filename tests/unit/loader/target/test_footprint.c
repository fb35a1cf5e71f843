// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which processes count as stopped, and which shared memory and timers are counted. */
#include "loader/target/footprint.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/target/shared_files.h"

#define SHARED_BYTES (1 << 20)
#define MANY 10000

static pid_t start_target(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (;;)
		pause();
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/*
 * Stops a process by ptrace. Returns the pid of the tracer (a child of this process), or -1 if
 * tracing is not permitted.
 */
static pid_t trace(pid_t target)
{
	int done[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(done), 0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = !ptrace(PTRACE_SEIZE, target, NULL, NULL) &&
		       !ptrace(PTRACE_INTERRUPT, target, NULL, NULL) &&
		       waitpid(target, NULL, __WALL) == target;
		if (write(done[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(done[0], &byte, 1), 1);
	close(done[0]);
	close(done[1]);
	if (byte)
		return pid;
	end(pid);
	return -1;
}

static void stopped_by_a_signal(void **state)
{
	pid_t target = start_target();

	assert_false(footprint_read(target).is_stopped);
	assert_int_equal(kill(target, SIGSTOP), 0);
	assert_int_equal(waitpid(target, NULL, WUNTRACED), target);
	assert_true(footprint_read(target).is_stopped);
	end(target);
}

/* A process that a child of memleak has stopped for a proof does not count as stopped. */
static void stopped_by_memleak(void **state)
{
	pid_t target = start_target(), tracer = trace(target);

	if (tracer < 0) {
		end(target);
		print_message("skipped: no permission to trace other processes\n");
		skip();
	}
	assert_false(footprint_read(target).is_stopped);
	end(tracer);
	end(target);
}

/*
 * Open files on tmpfs count even if they are not mapped, except for the excluded file. System V
 * segments count even if no process has attached them.
 */
static void shared_memory_that_is_not_mapped(void **state)
{
	static char bytes[SHARED_BYTES] = {1};
	uint64_t before = shared_files_bytes(getpid(), -1);
	int fd = memfd_create("test", MFD_CLOEXEC), other = dup(fd);
	int segment = shmget(IPC_PRIVATE, SHARED_BYTES, 0600);
	void *attached;

	assert_int_equal(write(fd, bytes, SHARED_BYTES), SHARED_BYTES);
	assert_int_equal(shared_files_bytes(getpid(), -1), before + SHARED_BYTES);
	assert_int_equal(shared_files_bytes(getpid(), fd), before);
	close(fd);
	close(other);
	assert_int_equal(shared_files_bytes(getpid(), -1), before);
	assert_true(segment >= 0);
	attached = shmat(segment, NULL, 0);
	assert_ptr_not_equal(attached, (void *)-1);
	memset(attached, 1, SHARED_BYTES);
	assert_int_equal(shared_files_bytes(getpid(), -1), before);
	assert_int_equal(shmdt(attached), 0);
	assert_int_equal(shared_files_bytes(getpid(), -1), before + SHARED_BYTES);
	assert_int_equal(shmctl(segment, IPC_RMID, NULL), 0);
	assert_int_equal(shared_files_bytes(getpid(), -1), before);
}

/*
 * A server may have thousands of connections. Shared memory that it opens behind them counts.
 * Returns 0 if it does, 77 if the limit on open files is too low, and 1 otherwise.
 */
static int open_behind_many(void)
{
	static char bytes[SHARED_BYTES] = {1};
	struct rlimit limit;
	uint64_t before;
	int fd = 0;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max < MANY + 100)
		return 77;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 77;
	before = shared_files_bytes(getpid(), -1);
	for (int i = 0; fd >= 0 && i < MANY; i++)
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("test", MFD_CLOEXEC);
	if (fd < MANY || write(fd, bytes, SHARED_BYTES) != SHARED_BYTES)
		return 1;
	return shared_files_bytes(getpid(), -1) != before + SHARED_BYTES;
}

/* Mounts an empty tmpfs that only this process sees. */
static int mount_tmpfs(const char *path)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("test", path, "tmpfs", 0, NULL);
}

/*
 * Returns 0 if a file on tmpfs counts only while it is open for writing, 77 if tmpfs cannot be
 * mounted, and 1 otherwise.
 */
static int write_to_tmpfs(void)
{
	static char bytes[SHARED_BYTES] = {1};
	bool is_counted, is_left_out;
	uint64_t before;
	int fd, reader;

	if (mount_tmpfs("/tmp"))
		return 77;
	/*
	 * After unshare(), files opened earlier are on mounts of the parent's namespace, and no
	 * longer count.
	 */
	before = shared_files_bytes(getpid(), -1);
	fd = open("/tmp/log", O_WRONLY | O_CREAT, 0600);
	reader = open("/tmp/log", O_RDONLY);
	if (reader < 0 || write(fd, bytes, SHARED_BYTES) != SHARED_BYTES)
		return 1;
	is_counted = shared_files_bytes(getpid(), -1) == before + SHARED_BYTES;
	close(fd);
	is_left_out = shared_files_bytes(getpid(), -1) == before;
	close(reader);
	return !is_counted || !is_left_out;
}

static void posix_timers(void **state)
{
	struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	struct footprint footprint = {0};
	timer_t timers[3];

	if (access("/proc/self/timers", R_OK))
		skip();
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(timer_create(CLOCK_REALTIME, &silent, &timers[i]), 0);
	footprint_read_timers(getpid(), &footprint);
	assert_int_equal(footprint.parts[FOOTPRINT_TIMERS], 3);
	for (size_t i = 0; i < 3; i++)
		timer_delete(timers[i]);
}

/* Requires that a function returns 0 in a child process. Skips the test if it returns 77. */
static void run_in_child(int (*function)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(function());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: no permission for a namespace, a mount or many files\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void file_behind_many(void **state)
{
	run_in_child(open_behind_many);
}

static void file_on_tmpfs(void **state)
{
	run_in_child(write_to_tmpfs);
}

/* Counts the queues that the process has used, but not a queue without messages. */
static int use_queues(void)
{
	struct footprint footprint = {0};
	const long message = 1;

	if (unshare(CLONE_NEWIPC))
		return 77;
	for (int i = 0; i < 3; i++)
		if (msgsnd(msgget(IPC_PRIVATE, 0600), &message, 0, 0))
			return 1;
	msgget(IPC_PRIVATE, 0600);
	footprint_read_queues(getpid(), &footprint);
	if (footprint.parts[FOOTPRINT_QUEUES] != 3)
		return 1;
	footprint_read_queues(getppid(), &footprint);
	return footprint.parts[FOOTPRINT_QUEUES] != 3;
}

static void message_queues(void **state)
{
	run_in_child(use_queues);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stopped_by_a_signal),
		cmocka_unit_test(stopped_by_memleak),
		cmocka_unit_test(shared_memory_that_is_not_mapped),
		cmocka_unit_test(file_behind_many),
		cmocka_unit_test(file_on_tmpfs),
		cmocka_unit_test(posix_timers),
		cmocka_unit_test(message_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
