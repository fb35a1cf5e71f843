// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests opening files by paths, some of which lead through a file system that does not answer. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limited_call.h"
#include "base/path_walk.h"
#include "base/regular_file.h"

/* Seconds after which a test that hangs is ended by SIGALRM. */
#define HANGS_S 60

static char folder[] = "/tmp/memleak-test-XXXXXX";
static int device_fd = -1; /* serves the folder "hung", but is never read */
static dev_t hung;

static bool run(const char *command)
{
	return !system(command);
}

static bool make_files(void)
{
	return mkdtemp(folder) && !chdir(folder) &&
	       run("mkdir -p a/b/c hung && echo text > a/b/file && ln -s b a/short && "
		   "ln -s ../../a/b/file a/b/up && ln -s /a/b/file absolute && "
		   "ln -s \"$PWD/a/b\" here && ln -s loop loop && ln -s /proc/self/cwd/a proc && "
		   "ln -s ../../../../../../../../a/b/file a/b/c/out && ln -s b/ a/slash && "
		   "ln -s hung/x to_hung && ln -s missing dangling");
}

/* Mounts a file system in user space without a server: each request to it waits for ever. */
static bool mount_hung(void)
{
	char options[96];
	struct stat st;
	int fd;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	device_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", device_fd);
	if (device_fd < 0 || mount("memleak-test", "hung", "fuse", 0, options))
		return false;
	fd = open("hung", O_PATH | O_CLOEXEC);
	if (fd < 0 || file_stat(fd, &st))
		return false;
	close(fd);
	hung = st.st_dev;
	return true;
}

static int set_up(void **state)
{
	alarm(HANGS_S);
	return make_files() ? 0 : -1;
}

static int tear_down(void **state)
{
	if (device_fd >= 0) {
		umount2("hung", MNT_DETACH);
		close(device_fd);
	}
	setenv("FOLDER", folder, 1);
	return chdir("/") || !run("rm -rf \"$FOLDER\"") ? -1 : 0;
}

static bool is_hung(int path_fd)
{
	struct stat st;

	return !file_stat(path_fd, &st) && st.st_dev == hung;
}

static bool is_never(int path_fd)
{
	return false;
}

/* Closes fd, and returns the inode number of its file, or fd if it is an error. */
static int64_t take_inode(int fd)
{
	struct stat st;

	if (fd < 0)
		return fd;
	assert_int_equal(file_stat(fd, &st), 0);
	close(fd);
	return (int64_t)st.st_ino;
}

static int64_t kernel_finds(int at_fd, const char *path, struct open_how *how)
{
	int fd = (int)syscall(SYS_openat2, at_fd, path, how, sizeof(*how));

	return take_inode(fd < 0 ? -errno : fd);
}

/* A path that is opened part by part leads to the same file as one that the kernel resolves. */
static void walk_is_that_of_the_kernel(void **state)
{
	static const char *const paths[] = {
		"a/b/file",
		"/a/b/file",
		"a/./b//c/",
		"a/b/c/..",
		"a/short/file",
		"a/b/up",
		"absolute",
		"here/file",
		"a/b/c/out",
		"..",
		"../..",
		".",
		"",
		"a/b/file/x",
		"a/b/file/",
		"missing/x",
		"loop",
		"dangling",
		"a/slash/file",
		"a/slash",
		"/",
		"a/short",
		"a/../../a/b/up",
		"/..",
		"a/b/c/../../short/up",
	};
	static const uint64_t resolves[] = {
		0,
		RESOLVE_NO_SYMLINKS,
		RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
		RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
	};
	static const int flags[] = {0, O_NOFOLLOW, O_DIRECTORY};
	int at_fd = open("a/..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) * 12; i++) {
		const char *path = paths[i / 12];
		struct open_how how = {
			.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags[i % 3]),
			.resolve = resolves[i / 3 % 4],
		};
		int64_t wanted = kernel_finds(at_fd, path, &how);
		int64_t found = take_inode(path_walk_open(at_fd, path, &how, is_never));

		if (found != wanted)
			fail_msg("%s with %llx and %llx: %lld, not %lld", path,
				 (unsigned long long)how.flags, (unsigned long long)how.resolve,
				 (long long)found, (long long)wanted);
	}
	close(at_fd);
}

/* The kernel follows links to open files; a path below a root may not use them. */
static void links_in_proc(void **state)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC};
	int64_t file = take_inode(open("a/b/file", O_PATH | O_CLOEXEC));
	char path[64];
	int fd = open("a/b/file", O_RDONLY | O_CLOEXEC), root_fd = open("/", O_PATH | O_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(take_inode(path_walk_open(AT_FDCWD, path, &how, is_never)), file);
	assert_int_equal(take_inode(path_walk_open(AT_FDCWD, "proc/b/file", &how, is_never)), file);
	assert_int_equal(take_inode(path_walk_open(AT_FDCWD, "/proc/self/cwd/..", &how, is_never)),
			 take_inode(open("..", O_PATH | O_CLOEXEC)));
	strcat(path, "/");
	assert_int_equal(path_walk_open(AT_FDCWD, path, &how, is_never), -ENOTDIR);
	how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
	assert_int_equal(path_walk_open(root_fd, path, &how, is_never), -ELOOP);
	close(root_fd);
	close(fd);
}

/* Without a root, the number of folders on the way is not limited. */
static void deep_folder(void **state)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC};
	char path[201] = "";

	for (int i = 0; i < 100; i++) {
		strcat(path, "d/");
		assert_return_code(mkdir(path, 0700), errno);
	}
	assert_int_equal(take_inode(path_walk_open(AT_FDCWD, path, &how, is_never)),
			 take_inode(open(path, O_PATH | O_CLOEXEC)));
}

static void stat_is_that_of_the_kernel(void **state)
{
	int fd = open("a/b/file", O_PATH | O_CLOEXEC);
	struct stat st, wanted;

	assert_return_code(fstat(fd, &wanted), errno);
	assert_int_equal(file_stat(fd, &st), 0);
	assert_int_equal(st.st_ino, wanted.st_ino);
	assert_int_equal(st.st_dev, wanted.st_dev);
	assert_int_equal(st.st_mode, wanted.st_mode);
	assert_int_equal(st.st_uid, wanted.st_uid);
	assert_int_equal(st.st_size, wanted.st_size);
	assert_memory_equal(&st.st_mtim, &wanted.st_mtim, sizeof(st.st_mtim));
	assert_memory_equal(&st.st_ctim, &wanted.st_ctim, sizeof(st.st_ctim));
	close(fd);
	assert_int_equal(file_stat(fd, &st), -EBADF);
}

/* No name is looked up in a folder that is refused. */
static void refused_folder_is_not_entered(void **state)
{
	struct stat st;
	int root_fd;

	if (!mount_hung())
		skip(); /* no file system in user space can be mounted here */
	root_fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	regular_file_refuse(is_hung);
	assert_int_equal(regular_file_open(AT_FDCWD, -1, "hung/x", LINKS_ALL, &st), -EREMOTE);
	assert_int_equal(regular_file_open(AT_FDCWD, -1, "hung/y/x", LINKS_NONE, &st), -EREMOTE);
	assert_int_equal(regular_file_open(AT_FDCWD, -1, "to_hung", LINKS_ALL, &st), -EREMOTE);
	assert_int_equal(regular_file_open(-1, root_fd, "/hung/x", LINKS_ALL, &st), -EREMOTE);
	assert_int_equal(regular_file_open(AT_FDCWD, -1, "hung", LINKS_ALL, &st), -EREMOTE);
	assert_int_equal(folder_open(root_fd, "/hung/y", LINKS_ALL), -EREMOTE);
	close(root_fd);
	root_fd = regular_file_open(AT_FDCWD, -1, "a/b/up", LINKS_ALL, &st);
	assert_return_code(root_fd, -root_fd);
	close(root_fd);
	regular_file_refuse(NULL);
}

/* A file system that does not answer, but is not refused, as on the network, is given up. */
static void silence_is_an_error(void **state)
{
	struct stat st;

	if (!hung)
		skip(); /* no file system in user space can be mounted here */
	limited_calls_begin();
	assert_int_equal(regular_file_open(AT_FDCWD, -1, "hung/x", LINKS_ALL, &st), -EAGAIN);
	assert_int_equal(folder_open(-1, "hung/z", LINKS_ALL), -EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_is_that_of_the_kernel),
		cmocka_unit_test(links_in_proc),
		cmocka_unit_test(deep_folder),
		cmocka_unit_test(stat_is_that_of_the_kernel),
		cmocka_unit_test(refused_folder_is_not_entered),
		cmocka_unit_test(silence_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
