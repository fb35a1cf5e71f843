// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests writing a document again and again: by replacing the file, by overwriting it, or not at
 * all.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/write_all.h"
#include "sinks/document.h"

static char folder[] = "/tmp/memleak-document-XXXXXX";
static char path[64];
static int fd;

static int begin(void **state)
{
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0604);
	return fd < 0;
}

/* Fails if the folder has any file other than the document. */
static int end(void **state)
{
	close(fd);
	unlink(path);
	return rmdir(folder);
}

static ino_t demand(const char *text)
{
	char read_back[64] = "";
	int in = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st, ours;

	assert_true(in >= 0);
	assert_int_equal(read(in, read_back, sizeof(read_back) - 1), strlen(text));
	assert_string_equal(read_back, text);
	assert_int_equal(fstat(in, &st), 0);
	assert_int_equal(fstat(fd, &ours), 0);
	assert_int_equal(st.st_ino, ours.st_ino);
	close(in);
	return st.st_ino;
}

static void another_file(void **state)
{
	struct stat st;
	ino_t first;

	assert_int_equal(fchmod(fd, 0604), 0);
	assert_int_equal(document_replace(path, &fd, "a long document", 15), 0);
	first = demand("a long document");
	assert_int_equal(document_replace(path, &fd, "short", 5), 0);
	assert_int_not_equal(demand("short"), first);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_int_equal(document_replace(path, &fd, "", 0), 0);
	demand("");
}

/* Returns a path of the open file in /proc, where no file can be created. */
static const char *name_in_proc(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return name;
}

/* If no file can be created, the old one is overwritten. */
static void same_file(void **state)
{
	ino_t first = demand("");

	assert_int_equal(document_replace(name_in_proc(), &fd, "a long document", 15), 0);
	demand("a long document");
	assert_int_equal(document_replace(name_in_proc(), &fd, "short", 5), 0);
	assert_int_equal(demand("short"), first);
}

/* The folder of the document is gone. */
static void name_is_gone(void **state)
{
	assert_int_equal(document_replace("/nonexistent/file", &fd, "lost", 4), -ENOENT);
	demand("");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(document_replace(path, &fd, "lost", 4), -ENOENT);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(document_replace(path, &fd, "found", 5), 0);
	demand("found");
}

/*
 * The owner of the document's folder replaces it by a symbolic link to another folder: no file is
 * created or replaced there.
 */
static void folder_is_a_link(void **state)
{
	char aside[80], other[80], file[96];
	struct stat st;

	snprintf(aside, sizeof(aside), "%s-aside", folder);
	snprintf(other, sizeof(other), "%s-other", folder);
	snprintf(file, sizeof(file), "%s/file", other);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
	assert_int_equal(rename(folder, aside), 0);
	assert_int_equal(symlink(other, folder), 0);
	assert_int_equal(document_replace(path, &fd, "lost", 4), -ENOTDIR);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_int_equal(unlink(folder), 0);
	assert_int_equal(rename(aside, folder), 0);
	demand("");
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(other), 0);
}

/* The path of the document is now a folder, which cannot be replaced. */
static void name_is_taken(void **state)
{
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(document_replace(path, &fd, "lost", 4), -EISDIR);
	assert_int_equal(rmdir(path), 0);
}

static void limit_size(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/*
 * If the disk is full, the old document stays. If it had to be overwritten, it is empty afterwards.
 */
static void no_room(void **state)
{
	assert_int_equal(document_replace(path, &fd, "old", 3), 0);
	limit_size(4);
	assert_int_equal(document_replace(path, &fd, "too long", 8), -EFBIG);
	demand("old");
	assert_int_equal(document_replace(name_in_proc(), &fd, "too long", 8), -EFBIG);
	demand("");
	limit_size(RLIM_INFINITY);
}

/* If the disk is full, data is appended completely or not at all. */
static void no_room_for_more(void **state)
{
	assert_int_equal(append_all(fd, "old", 3), 0);
	limit_size(6);
	assert_int_equal(append_all(fd, "too long", 8), -EFBIG);
	demand("old");
	assert_int_equal(append_all(fd, "new", 3), 0);
	demand("oldnew");
	limit_size(RLIM_INFINITY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(another_file, begin, end),
		cmocka_unit_test_setup_teardown(same_file, begin, end),
		cmocka_unit_test_setup_teardown(name_is_gone, begin, end),
		cmocka_unit_test_setup_teardown(folder_is_a_link, begin, end),
		cmocka_unit_test_setup_teardown(name_is_taken, begin, end),
		cmocka_unit_test_setup_teardown(no_room, begin, end),
		cmocka_unit_test_setup_teardown(no_room_for_more, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
