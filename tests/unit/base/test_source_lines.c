// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading lines of source files, and that files are read only for users who may read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/source_lines.h"

#define NOBODY ((uid_t)-1)
#define PATIENCE_NS UINT64_C(60000000000)

static char folder[64], file[128], link_to_file[128];

static int make_files(void **state)
{
	FILE *out;

	snprintf(folder, sizeof(folder), "/tmp/memleak-lines-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/main.c", folder);
	snprintf(link_to_file, sizeof(link_to_file), "/tmp/%s.c", folder + 5);
	out = fopen(file, "w");
	if (!out || symlink(file, link_to_file))
		return -1;
	fputs("int main(void)\n\treturn\t\x1b[2J;\n\n  last", out);
	return fclose(out);
}

static int remove_files(void **state)
{
	return unlink(file) | unlink(link_to_file) | rmdir(folder);
}

/*
 * Requests a line, reads the requested lines, and returns the line, or NULL if it cannot be shown.
 */
static const char *read_line(struct source_lines *lines, uid_t uid, const char *path,
			     unsigned int line)
{
	source_lines__ask(lines, uid, path, line);
	source_lines__read(lines, clock_ns(CLOCK_MONOTONIC) + PATIENCE_NS);
	return source_lines__ask(lines, uid, path, line);
}

static bool may_read(uid_t uid, const char *path)
{
	struct source_lines *lines;
	bool ret;

	assert_int_equal(source_lines__new(&lines), 0);
	ret = read_line(lines, uid, path, 1) != NULL;
	source_lines__free(lines);
	return ret;
}

static void lines_are_plain(void **state)
{
	struct source_lines *lines;

	assert_int_equal(source_lines__new(&lines), 0);
	assert_null(source_lines__ask(lines, getuid(), file, 2));
	assert_string_equal(read_line(lines, getuid(), file, 4), "last");
	assert_string_equal(source_lines__ask(lines, getuid(), file, 2), "return    \\x1b[2J;");
	assert_string_equal(read_line(lines, getuid(), file, 1), "int main(void)");
	assert_null(read_line(lines, getuid(), file, 3));
	assert_null(read_line(lines, getuid(), file, 5));
	assert_null(read_line(lines, getuid(), file, 0));
	assert_null(read_line(lines, getuid(), "", 1));
	assert_null(read_line(lines, getuid(), "main.c", 1));
	assert_null(read_line(lines, getuid(), "/tmp", 1));
	assert_null(read_line(lines, getuid(), "/proc/self/status", 1));
	assert_int_equal(chdir(folder), 0);
	assert_string_equal(read_line(lines, getuid(), "./main.c", 1), "int main(void)");
	source_lines__free(lines);
}

/* Lines in the first 16 MiB of a file are shown, however large the file is. */
static void large_files(void **state)
{
	enum { LIMIT = 16 << 20, LINE_BYTES = 64, LAST = LIMIT / LINE_BYTES };
	char path[160];
	struct source_lines *lines;
	FILE *out;

	snprintf(path, sizeof(path), "%s/large.c", folder);
	out = fopen(path, "w");
	assert_non_null(out);
	/* The extra byte moves the end of line LAST beyond the limit. */
	fputs("x", out);
	for (int i = 1; i <= LAST + 9; i++)
		fprintf(out, "%-*d\n", LINE_BYTES - 1, i);
	fclose(out);
	assert_int_equal(source_lines__new(&lines), 0);
	assert_non_null(read_line(lines, getuid(), path, 70000));
	assert_int_equal(atoi(read_line(lines, getuid(), path, 70000)), 70000);
	assert_int_equal(atoi(read_line(lines, getuid(), path, LAST - 1)), LAST - 1);
	assert_null(read_line(lines, getuid(), path, LAST));
	assert_null(read_line(lines, getuid(), path, LAST + 1));
	source_lines__free(lines);
	assert_int_equal(unlink(path), 0);
}

/*
 * A traced program may name any file, also by a symbolic link. A file is not shown unless the
 * program's user can read it.
 */
static void files_of_others_are_refused(void **state)
{
	struct source_lines *lines;

	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_true(may_read(getuid(), file));
	assert_false(may_read(NOBODY, file));
	assert_int_equal(chmod(file, 0644), 0);
	assert_true(may_read(NOBODY, file));
	assert_true(may_read(NOBODY, link_to_file));
	assert_int_equal(chmod(folder, 0750), 0);
	assert_false(may_read(NOBODY, file));
	assert_false(may_read(NOBODY, link_to_file));
	assert_true(may_read(getuid(), link_to_file));

	/*
	 * NOBODY may not read the file: no line is returned for NOBODY, although the file's owner
	 * gets it.
	 */
	assert_int_equal(source_lines__new(&lines), 0);
	source_lines__ask(lines, NOBODY, file, 1);
	assert_non_null(read_line(lines, getuid(), file, 1));
	assert_null(source_lines__ask(lines, NOBODY, file, 1));
	source_lines__free(lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_plain),
		cmocka_unit_test(large_files),
		cmocka_unit_test(files_of_others_are_refused),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
