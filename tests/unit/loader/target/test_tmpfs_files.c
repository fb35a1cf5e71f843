// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which files on tmpfs count for the user that owns them. The files belong to a user without
 * other processes, and the mounts are seen only by this test.
 */
#include "loader/target/tmpfs_files.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/lib/process.h"

#define FILE_BYTES (1 << 20)
#define USER 54321
/* Longer than the kernel's clock for the times of files takes from one tick to the next. */
#define TICK_US 20000

static pid_t target; /* a process of USER */

/* Creates a file of FILE_BYTES that belongs to USER. */
static void create(const char *path)
{
	static char bytes[FILE_BYTES] = {1};
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	assert_int_equal(write(fd, bytes, FILE_BYTES), FILE_BYTES);
	assert_int_equal(fchown(fd, USER, USER), 0);
	close(fd);
}

static uint64_t now_of(struct tmpfs_files *files)
{
	tmpfs_files_begin_report(files);
	return tmpfs_files_of(files, target);
}

static int mount_both(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	       mount("test", "/dev/shm", "tmpfs", 0, NULL) ||
	       mount("test", "/tmp", "tmpfs", 0, NULL);
}

static int set_up(void **state)
{
	(void)state;
	if (mount_both())
		return 0;
	target = fork();
	if (target)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || setuid(USER) || prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
	for (;;)
		pause();
}

static int tear_down(void **state)
{
	(void)state;
	if (target > 0) {
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	return 0;
}

/* Waits until the target has changed its user, and until the files of earlier tests are older. */
static void wait_for_target(void)
{
	char path[32];
	struct stat st = {0};

	if (target <= 0) {
		print_message("skipped: no permission to mount tmpfs\n");
		skip();
	}
	snprintf(path, sizeof(path), "/proc/%d", target);
	usleep(TICK_US);
	while (st.st_uid != USER)
		assert_int_equal(stat(path, &st), 0);
}

/*
 * Files on all tmpfs mounts and in their folders count, even if no process has them open. Files
 * that are older than the first reading do not: that one of them is removed hides no growth.
 */
static void files_of_user(void **state)
{
	struct tmpfs_files files = {0};

	wait_for_target();
	assert_int_equal(mkdir("/tmp/folder", 0700), 0);
	create("/tmp/folder/old");
	usleep(TICK_US);
	assert_int_equal(now_of(&files), 0);
	create("/dev/shm/left");
	assert_int_equal(now_of(&files), FILE_BYTES);
	create("/tmp/folder/new");
	assert_int_equal(now_of(&files), 2 * FILE_BYTES);
	assert_int_equal(unlink("/tmp/folder/old"), 0);
	assert_int_equal(now_of(&files), 2 * FILE_BYTES);
	assert_int_equal(link("/tmp/folder/new", "/tmp/other"), 0);
	assert_int_equal(now_of(&files), 2 * FILE_BYTES);
	assert_int_equal(chown("/dev/shm/left", USER + 1, USER + 1), 0);
	assert_int_equal(now_of(&files), FILE_BYTES);
	tmpfs_files_deinit(&files);
}

/* An old file counts once it is written to. */
static void old_file_that_grows(void **state)
{
	struct tmpfs_files files = {0};
	int fd;

	wait_for_target();
	create("/tmp/log");
	usleep(TICK_US);
	assert_int_equal(now_of(&files), 0);
	fd = open("/tmp/log", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "line\n", 5), 5);
	close(fd);
	assert_true(now_of(&files) > FILE_BYTES);
	tmpfs_files_deinit(&files);
}

/* A file that memleak has open, such as its own report, does not count. */
static void own_file(void **state)
{
	struct tmpfs_files files = {0};
	int fd;

	wait_for_target();
	assert_int_equal(now_of(&files), 0);
	create("/tmp/report");
	fd = open("/tmp/report", O_WRONLY);
	assert_int_equal(now_of(&files), 0);
	close(fd);
	assert_int_equal(now_of(&files), FILE_BYTES);
	tmpfs_files_deinit(&files);
}

/* Files of another file system that is mounted below a tmpfs count only once, for their mount. */
static void mount_inside(void **state)
{
	struct tmpfs_files files = {0};

	wait_for_target();
	assert_int_equal(mkdir("/tmp/inner", 0700), 0);
	assert_int_equal(mount("test", "/tmp/inner", "tmpfs", 0, NULL), 0);
	assert_int_equal(mkdir("/tmp/again", 0700), 0);
	assert_int_equal(mount("/tmp/inner", "/tmp/again", NULL, MS_BIND, NULL), 0);
	assert_int_equal(now_of(&files), 0);
	create("/tmp/inner/file");
	assert_int_equal(now_of(&files), FILE_BYTES);
	tmpfs_files_deinit(&files);
}

/* A mount may come before the mount that it is on in mountinfo. */
static void moved_mount(void **state)
{
	struct tmpfs_files files = {0};

	wait_for_target();
	assert_int_equal(mkdir("/tmp/moved", 0700), 0);
	assert_int_equal(mount("test", "/tmp/moved", "tmpfs", 0, NULL), 0);
	assert_int_equal(mkdir("/tmp/later", 0700), 0);
	assert_int_equal(mount("test", "/tmp/later", "tmpfs", 0, NULL), 0);
	assert_int_equal(mkdir("/tmp/later/moved", 0700), 0);
	assert_int_equal(mount("/tmp/moved", "/tmp/later/moved", NULL, MS_MOVE, NULL), 0);
	assert_int_equal(now_of(&files), 0);
	create("/tmp/later/moved/file");
	assert_int_equal(now_of(&files), FILE_BYTES);
	tmpfs_files_deinit(&files);
}

/* A file system that is mounted below a tmpfs, and whose server never answers, is not asked. */
static void silent_mount(void **state)
{
	struct tmpfs_files files = {0};
	char options[64];
	int server;

	wait_for_target();
	server = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", server);
	assert_int_equal(mkdir("/tmp/silent", 0700), 0);
	if (server < 0 || mount("silent", "/tmp/silent", "fuse", 0, options)) {
		print_message("skipped: no permission to mount FUSE\n");
		skip();
	}
	alarm(PATIENCE_MS / 1000);
	assert_int_equal(now_of(&files), 0);
	alarm(0);
	close(server);
	tmpfs_files_deinit(&files);
}

/* Makes a file in its own /dev/shm when a byte arrives, and sends the byte back. Never returns. */
static void run_container(int end, int other)
{
	char byte;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("test", "/dev/shm", "tmpfs", 0, NULL) || setgid(USER) || setuid(USER) ||
	    prctl(PR_SET_DUMPABLE, 1))
		_exit(1);
	close(other);
	while (write(end, "", 1) == 1 && read(end, &byte, 1) == 1)
		create("/dev/shm/inside");
	_exit(0);
}

/* A process in another mount namespace, such as that of a container, has its own files. */
static void other_namespace(void **state)
{
	struct tmpfs_files files = {0};
	int ends[2], status;
	char byte;
	pid_t pid;

	wait_for_target();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = fork();
	if (!pid)
		run_container(ends[1], ends[0]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	tmpfs_files_begin_report(&files);
	assert_int_equal(tmpfs_files_of(&files, pid), 0);
	assert_int_equal(write(ends[0], "", 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	/* The mounts of a namespace are walked once per report. */
	assert_int_equal(tmpfs_files_of(&files, pid), 0);
	tmpfs_files_begin_report(&files);
	assert_int_equal(tmpfs_files_of(&files, pid), FILE_BYTES);
	close(ends[0]);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tmpfs_files_deinit(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_user),   cmocka_unit_test(old_file_that_grows),
		cmocka_unit_test(mount_inside),    cmocka_unit_test(moved_mount),
		cmocka_unit_test(own_file),        cmocka_unit_test(silent_mount),
		cmocka_unit_test(other_namespace),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
