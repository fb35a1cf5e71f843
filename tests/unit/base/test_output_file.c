// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests opening of output files: ownership, and symbolic links on the path. Most tests need root.
 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/lib/rights.h"

enum { SOMEBODY = 12345, INVOKER = 1000 };

static char folder[] = "/tmp/output-file-XXXXXX";

static int enter(void **state)
{
	(void)state;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return !mkdtemp(folder) || chdir(folder);
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") || rmdir(folder);
}

static int drop_names(void **state)
{
	(void)state;
	unlink("file");
	unlink("link");
	unlink("second");
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	return 0;
}

static void expect_file(const char *path, uid_t owner, mode_t mode)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_uid, owner);
	assert_int_equal(st.st_mode & 07777, mode);
}

static void expect_opened(const char *path)
{
	int fd = output_file_open(path);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND), O_WRONLY | O_APPEND);
	close(fd);
}

static void make(const char *path)
{
	close(open(path, O_WRONLY | O_CREAT, 0644));
}

static void made_for_its_owner(void **state)
{
	(void)state;
	expect_opened("file");
	expect_file("file", geteuid(), 0600);
	/* An existing file keeps its mode. */
	assert_int_equal(chmod("file", 0640), 0);
	expect_opened("file");
	expect_file("file", geteuid(), 0640);
}

static void made_for_who_asked_sudo(void **state)
{
	(void)state;
	NEED_ROOT(CAP_CHOWN);
	NEED_ROOT(CAP_DAC_OVERRIDE); /* root reopens another user's file */
	setenv("SUDO_UID", "1000", 1);
	setenv("SUDO_GID", "1000", 1);
	expect_opened("file");
	expect_file("file", INVOKER, 0600);
	expect_opened("file");
	setenv("SUDO_UID", "1000x", 1);
	assert_int_equal(output_file_open("file"), -EACCES);
}

static void somebody_elses_file(void **state)
{
	(void)state;
	NEED_ROOT(CAP_CHOWN);
	make("file");
	assert_int_equal(chown("file", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(output_file_open("file"), -EACCES);
	assert_non_null(strstr(output_file_error(-EACCES), "another user"));
}

static void somebody_elses_pipe(void **state)
{
	int reader;

	(void)state;
	NEED_ROOT(CAP_CHOWN);
	assert_int_equal(mkfifo("file", 0666), 0);
	reader = open("file", O_RDONLY | O_NONBLOCK);
	expect_opened("file");
	assert_int_equal(chown("file", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(output_file_open("file"), -EACCES);
	close(reader);
}

static void own_link(void **state)
{
	(void)state;
	assert_int_equal(symlink("second", "link"), 0);
	assert_int_equal(symlink("file", "second"), 0);
	expect_opened("link");
	expect_file("file", geteuid(), 0600);
}

static void somebody_elses_link(void **state)
{
	(void)state;
	NEED_ROOT(CAP_CHOWN);
	make("file");
	assert_int_equal(symlink("second", "link"), 0);
	assert_int_equal(symlink("file", "second"), 0);
	assert_int_equal(lchown("second", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(output_file_open("link"), -EACCES);
}

/*
 * Another user's named pipe is refused without opening it, which would block until the pipe has a
 * reader.
 */
static void somebody_elses_pipe_without_reader(void **state)
{
	(void)state;
	NEED_ROOT(CAP_CHOWN);
	assert_int_equal(mkfifo("file", 0666), 0);
	assert_int_equal(chown("file", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(output_file_open("file"), -EACCES);
}

static void link_to_a_folder(void **state)
{
	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	assert_int_equal(symlink("folder/.", "link"), 0);
	expect_opened("link/..//./link/file");
	expect_file("folder/file", geteuid(), 0600);
	assert_int_equal(output_file_open("link/"), -EISDIR);
	assert_int_equal(output_file_open("folder/file/x"), -ENOTDIR);
	assert_int_equal(unlink("folder/file"), 0);
	assert_int_equal(rmdir("folder"), 0);
}

static void somebody_elses_link_to_a_folder(void **state)
{
	(void)state;
	NEED_ROOT(CAP_CHOWN);
	assert_int_equal(mkdir("folder", 0755), 0);
	assert_int_equal(symlink("folder", "link"), 0);
	assert_int_equal(lchown("link", SOMEBODY, SOMEBODY), 0);
	assert_int_equal(output_file_open("link/file"), -EACCES);
	assert_int_equal(rmdir("folder"), 0);
}

static void folder_that_is_open(void **state)
{
	char path[64];
	int fd;

	(void)state;
	assert_int_equal(mkdir("folder", 0755), 0);
	fd = open("folder", O_RDONLY | O_DIRECTORY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d/file", fd);
	expect_opened(path);
	expect_file("folder/file", geteuid(), 0600);
	close(fd);
	assert_int_equal(unlink("folder/file"), 0);
	assert_int_equal(rmdir("folder"), 0);
}

static void links_in_a_circle(void **state)
{
	(void)state;
	assert_int_equal(symlink("second", "link"), 0);
	assert_int_equal(symlink("link", "second"), 0);
	assert_int_equal(output_file_open("link"), -ELOOP);
}

static void open_files_and_devices(void **state)
{
	char path[64];
	int fd;

	(void)state;
	expect_opened("/dev/null");
	fd = open("file", O_WRONLY | O_CREAT, 0600);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	assert_int_equal(unlink("file"), 0);
	expect_opened(path);
	close(fd);
}

static void nowhere(void **state)
{
	(void)state;
	assert_int_equal(output_file_open("missing/file"), -ENOENT);
	assert_int_equal(output_file_open("."), -EISDIR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(made_for_its_owner, drop_names),
		cmocka_unit_test_teardown(made_for_who_asked_sudo, drop_names),
		cmocka_unit_test_teardown(somebody_elses_file, drop_names),
		cmocka_unit_test_teardown(somebody_elses_pipe, drop_names),
		cmocka_unit_test_teardown(own_link, drop_names),
		cmocka_unit_test_teardown(somebody_elses_link, drop_names),
		cmocka_unit_test_teardown(somebody_elses_pipe_without_reader, drop_names),
		cmocka_unit_test_teardown(link_to_a_folder, drop_names),
		cmocka_unit_test_teardown(somebody_elses_link_to_a_folder, drop_names),
		cmocka_unit_test_teardown(folder_that_is_open, drop_names),
		cmocka_unit_test_teardown(links_in_a_circle, drop_names),
		cmocka_unit_test_teardown(open_files_and_devices, drop_names),
		cmocka_unit_test_teardown(nowhere, drop_names),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
