// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions for tests of the symbolizer. */
#include "tests/unit/symbolizer/known.h"

#include <ftw.h>

char *folder;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");

	/* The helper has no privileges, so everybody must be able to read the folder. */
	if (asprintf(&folder, "%s/test_symbolizer.XXXXXX", tmp ? tmp : "/tmp") < 0 ||
	    !mkdtemp(folder))
		return -1;
	return chmod(folder, 0755);
}

int remove_folder(void **state)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
	return 0;
}

const char *in_folder(const char *name)
{
	static char *paths[8];
	static unsigned int next;
	char **path = &paths[next++ % 8];

	free(*path);
	if (asprintf(path, "%s/%s", folder, name) < 0)
		abort();
	return *path;
}

bool run(const char *command)
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

noinline_function uint64_t return_address(void)
{
	return (uintptr_t)__builtin_return_address(0);
}

noinline_function struct known known_function(void)
{
	struct known known;

	/* clang-format off */
	known.addr = return_address(); known.line = __LINE__;
	/* clang-format on */
	return known;
}

int child_main(void)
{
	struct known known = known_function();
	char byte;

	if (write(STDOUT_FILENO, &known, sizeof(known)) != sizeof(known))
		return 1;
	return read(STDIN_FILENO, &byte, 1) < 0;
}

struct child child_start(const char *path)
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

void child_end(struct child *child)
{
	close(child->in);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

const struct sym_location *resolve_one(struct symspace *space, uint64_t addr, bool exact,
				       unsigned int budget_ms)
{
	const struct sym_query query = {.addr = addr, .exact = exact};
	const struct sym_location *loc = NULL;

	assert_int_equal(symspace__resolve(space, &query, 1,
					   clock_deadline_ns(budget_ms * 1000000ULL), &loc),
			 0);
	assert_non_null(loc);
	assert_true(loc->addr == addr);
	assert_true(loc->frame_cnt >= 1);
	assert_non_null(loc->frames);
	return loc;
}

bool ends_with(const char *text, const char *end)
{
	size_t len = text ? strlen(text) : 0;

	return len >= strlen(end) && !strcmp(text + len - strlen(end), end);
}

void assert_unnamed(const struct sym_location *loc)
{
	assert_int_equal(loc->frame_cnt, 1);
	assert_null(loc->frames[0].symbol);
	assert_null(loc->frames[0].file);
	assert_int_equal(loc->frames[0].line, 0);
	assert_int_equal(loc->frames[0].offset, 0);
	assert_false(loc->frames[0].inlined);
}

void assert_known(const struct sym_location *loc, const struct known *known, bool with_line)
{
	const struct sym_frame *frame = &loc->frames[0];

	assert_int_equal(loc->frame_cnt, 1);
	assert_non_null(frame->symbol);
	assert_string_equal(frame->symbol, "known_function");
	assert_true(frame->offset > 0 && frame->offset < 1000);
	assert_false(frame->inlined);
	if (with_line) {
		assert_true(ends_with(frame->file, "known.c"));
		assert_int_equal(frame->line, known->line);
	} else {
		assert_null(frame->file);
		assert_int_equal(frame->line, 0);
	}
}
