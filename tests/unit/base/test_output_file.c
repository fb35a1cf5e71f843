// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests opening of output files: ownership, and symbolic links on the path. Most tests need root.
 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* In a folder for everybody, a file with two names may be another user's link to a file of root. */
static void hard_link(void **state)
{
	(void)state;
	NEED_ROOT(CAP_DAC_OVERRIDE);
	make("file");
	assert_int_equal(link("file", "second"), 0);
	expect_opened("second");
	assert_int_equal(chmod(".", 01777), 0);
	assert_int_equal(output_file_open("second"), -EACCES);
	assert_int_equal(unlink("file"), 0);
	expect_opened("second");
	assert_int_equal(chmod(".", 0700), 0);
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

enum { NODE_ROOT = 1, NODE_LINK, NODE_PIPE, NODE_FILE };

static struct fuse_attr fuse_attributes(uint64_t node)
{
	static const uint32_t modes[] = {
		[NODE_ROOT] = S_IFDIR | 0755,
		[NODE_LINK] = S_IFLNK | 0777,
		[NODE_PIPE] = S_IFIFO | 0600,
		[NODE_FILE] = S_IFREG | 0600,
	};

	return (struct fuse_attr){.ino = node, .size = 7, .mode = modes[node], .nlink = 1};
}

static uint64_t fuse_node(const char *name)
{
	if (!strcmp(name, "link"))
		return NODE_LINK;
	return !strcmp(name, "pipe") ? NODE_PIPE : NODE_FILE;
}

struct fuse_answer {
	struct fuse_out_header header;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
		struct fuse_statfs_out statfs;
		char target[7];
	} u;
};

/* Writes the body of an answer to *ret. Returns its size or a negative errno. */
static int fuse_answer(const struct fuse_in_header *in, struct fuse_answer *ret)
{
	switch (in->opcode) {
	case FUSE_INIT:
		ret->u.init.major = FUSE_KERNEL_VERSION;
		ret->u.init.minor = 31;
		ret->u.init.max_write = 4096;
		return sizeof(ret->u.init);
	case FUSE_LOOKUP:
		ret->u.entry.nodeid = fuse_node((const char *)(in + 1));
		ret->u.entry.attr = fuse_attributes(ret->u.entry.nodeid);
		return sizeof(ret->u.entry);
	case FUSE_GETATTR:
		ret->u.attr.attr = fuse_attributes(in->nodeid);
		return sizeof(ret->u.attr);
	case FUSE_READLINK:
		memcpy(ret->u.target, "../file", sizeof(ret->u.target));
		return sizeof(ret->u.target);
	case FUSE_OPEN:
		return sizeof(ret->u.open);
	case FUSE_STATFS:
		return sizeof(ret->u.statfs);
	case FUSE_RELEASE:
	case FUSE_FLUSH:
		return 0;
	default:
		return -ENOSYS;
	}
}

static void fuse_serve(int device)
{
	static char request[FUSE_MIN_READ_BUFFER * 4] __attribute__((aligned(8)));
	const struct fuse_in_header *in = (const struct fuse_in_header *)request;

	while (read(device, request, sizeof(request)) > 0) {
		struct fuse_answer out = {.header.unique = in->unique};
		int len = fuse_answer(in, &out);

		if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET ||
		    in->opcode == FUSE_INTERRUPT)
			continue;
		out.header.error = len < 0 ? len : 0;
		out.header.len = (uint32_t)sizeof(out.header) + (len < 0 ? 0 : (uint32_t)len);
		if (write(device, &out, out.header.len) < 0)
			return;
	}
}

/* Opens an output file and closes it. Returns 0 or a negative errno. */
static int try_to_open(const char *path)
{
	int fd = output_file_open(path);

	return fd < 0 ? fd : close(fd);
}

/*
 * A FUSE server can show a link that seems to belong to root. Such links are not followed, and such
 * pipes, which might block, are not opened. A file is opened: only its server gets the output.
 */
static void made_up_owner(void **state)
{
	int device = open("/dev/fuse", O_RDWR | O_CLOEXEC), link, behind_link, pipe, file;
	int reader;
	char options[64];
	pid_t pid;

	(void)state;
	NEED_ROOT(CAP_SYS_ADMIN);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
	assert_int_equal(mkdir("folder", 0755), 0);
	if (device < 0 || mount("test", "folder", "fuse", 0, options)) {
		print_message("skipped: FUSE cannot be mounted\n");
		rmdir("folder");
		skip();
	}
	pid = fork();
	if (!pid) {
		fuse_serve(device);
		_exit(0);
	}
	close(device);
	link = try_to_open("folder/link");
	behind_link = try_to_open("folder/link/file");
	reader = open("folder/pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pipe = try_to_open("folder/pipe");
	close(reader);
	file = try_to_open("folder/file");
	umount2("folder", MNT_DETACH);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(rmdir("folder"), 0);
	assert_int_equal(link, -EREMOTE);
	assert_int_equal(behind_link, -EREMOTE);
	assert_int_equal(pipe, -EREMOTE);
	assert_int_equal(file, 0);
	assert_int_equal(access("file", F_OK), -1);
	assert_non_null(strstr(output_file_error(-EREMOTE), "FUSE"));
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
		cmocka_unit_test_teardown(hard_link, drop_names),
		cmocka_unit_test_teardown(own_link, drop_names),
		cmocka_unit_test_teardown(somebody_elses_link, drop_names),
		cmocka_unit_test_teardown(somebody_elses_pipe_without_reader, drop_names),
		cmocka_unit_test_teardown(link_to_a_folder, drop_names),
		cmocka_unit_test_teardown(somebody_elses_link_to_a_folder, drop_names),
		cmocka_unit_test_teardown(folder_that_is_open, drop_names),
		cmocka_unit_test_teardown(links_in_a_circle, drop_names),
		cmocka_unit_test_teardown(open_files_and_devices, drop_names),
		cmocka_unit_test_teardown(made_up_owner, drop_names),
		cmocka_unit_test_teardown(nowhere, drop_names),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
