/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the tests of the symbolizer share: a folder of their own, files made by the tools of the
 * build, a child process that runs this same program, and a function whose every address is known.
 */
#ifndef TEST_SYMBOLIZER_H
#define TEST_SYMBOLIZER_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbolizer/internal.h"

#define BUDGET_MS 20000

static char *folder;

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	/* For all to enter: the helper has no rights. */
	if (asprintf(&folder, "%s/test_symbolizer.XXXXXX", tmp ? tmp : "/tmp") < 0 ||
	    !mkdtemp(folder))
		return -1;
	return chmod(folder, 0755);
}

static inline int remove_folder(void **state)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return 0;
}

/* A path in the folder; lives until the next but seven. */
static inline const char *in_folder(const char *name)
{
	static char *paths[8];
	static unsigned int next;
	char **path = &paths[next++ % 8];

	free(*path);
	if (asprintf(path, "%s/%s", folder, name) < 0)
		abort();
	return *path;
}

/* Runs a shell command in the folder; $CC, $SELF are set. False when it fails. */
static inline bool run(const char *command)
{
	char self[4096];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	pid_t pid;
	int status;

	assert_true(len > 0);
	self[len] = '\0';
	pid = fork();
	if (!pid) {
		setenv("SELF", self, 1);
		setenv("CC", "cc", 0);
		if (!chdir(folder) && freopen("/dev/null", "w", stderr))
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* cmocka's skip() says nothing of why. */
#define SKIP(why)                                                                                  \
	do {                                                                                       \
		print_message("skipped: %s\n", why);                                               \
		skip();                                                                            \
	} while (0)

/* A call whose return address, function and line the test knows. */
struct known {
	uint64_t addr;
	unsigned int line;
};

#ifdef __clang__
#define noinline_function __attribute__((noinline, optnone))
#else
#define noinline_function __attribute__((noinline, noclone, noipa))
#endif

static noinline_function uint64_t return_address(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

static noinline_function struct known known_function(void)
{
	struct known known;

	/* clang-format off */
	known.addr = return_address(); known.line = __LINE__;
	/* clang-format on */
	return known;
}

/*
 * For a program that is started as "PROGRAM child": writes what it knows of its own addresses to
 * stdout, then waits until stdin is closed.
 */
static inline int child_main(void)
{
	struct known known = known_function();
	char byte;

	if (write(STDOUT_FILENO, &known, sizeof(known)) != sizeof(known))
		return 1;
	return read(STDIN_FILENO, &byte, 1) < 0;
}

struct child {
	pid_t pid;
	int in; /* to be closed to end it */
	struct known known;
};

/* Runs path as a child; before, if any, is called in it before it does. */
static inline struct child child_start(const char *path)
{
	struct child child;
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	child.pid = fork();
	if (!child.pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execl(path, path, "child", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	child.in = in[1];
	assert_int_equal(read(out[0], &child.known, sizeof(child.known)), sizeof(child.known));
	close(out[0]);
	return child;
}

static inline void child_end(struct child *child)
{
	close(child->in);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static inline const struct sym_location *resolve_one(struct symspace *space, uint64_t addr,
						     bool exact, unsigned int budget_ms)
{
	const struct sym_query query = {.addr = addr, .exact = exact};
	const struct sym_location *loc = NULL;

	assert_int_equal(symspace__resolve(space, &query, 1, budget_ms, &loc), 0);
	assert_non_null(loc);
	assert_true(loc->addr == addr);
	assert_true(loc->frame_cnt >= 1);
	assert_non_null(loc->frames);
	return loc;
}

static inline bool ends_with(const char *text, const char *end)
{
	size_t len = text ? strlen(text) : 0;

	return len >= strlen(end) && !strcmp(text + len - strlen(end), end);
}

static inline void assert_unnamed(const struct sym_location *loc)
{
	assert_int_equal(loc->frame_cnt, 1);
	assert_null(loc->frames[0].symbol);
	assert_null(loc->frames[0].file);
	assert_int_equal(loc->frames[0].line, 0);
	assert_int_equal(loc->frames[0].offset, 0);
	assert_false(loc->frames[0].inlined);
}

/* The known call, with or without its line. */
static inline void assert_known(const struct sym_location *loc, const struct known *known,
				bool with_line)
{
	const struct sym_frame *frame = &loc->frames[0];

	assert_int_equal(loc->frame_cnt, 1);
	assert_non_null(frame->symbol);
	assert_string_equal(frame->symbol, "known_function");
	assert_true(frame->offset > 0 && frame->offset < 1000);
	assert_false(frame->inlined);
	if (with_line) {
		assert_true(ends_with(frame->file, "test_symbolizer.h"));
		assert_int_equal(frame->line, known->line);
	} else {
		assert_null(frame->file);
		assert_int_equal(frame->line, 0);
	}
}

#endif
