// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests finding the module of a mapped file without opening the file, and that no wrong module is
 * found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "symbolizer/opened_modules.h"

static struct module *add(struct opened_modules *list, FILE *file, struct stat *ret)
{
	int fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
	struct file_version version;
	struct module *module;

	assert_int_equal(fputs("first", file), 1);
	assert_int_equal(fflush(file), 0);
	assert_int_equal(fstat(fd, ret), 0);
	version = file_version_of(ret);
	assert_int_equal(opened_modules_get(list, fd, &version, "/file", &module), 0);
	return module;
}

static bool release(void *arg, struct module *module)
{
	return true;
}

static void only_open_unchanged_files_are_found(void **state)
{
	struct opened_modules list = {0};
	FILE *file = tmpfile();
	struct stat st;
	struct module *module = add(&list, file, &st);
	const struct file_id id = file_id_of(&st), other = {.ino = id.ino + 1, .dev = id.dev};

	assert_ptr_equal(opened_modules_find_mapped(&list, &id, 0), module);
	assert_ptr_equal(opened_modules_find_mapped(&list, &id, INT64_MAX), module);
	assert_null(opened_modules_find_mapped(&list, &other, 0));
	/*
	 * The inode has changed since the mapping was made, so it may belong to another file now.
	 */
	assert_null(opened_modules_find_mapped(&list, &id, 1));
	assert_true(fputs("second", file) >= 0);
	assert_int_equal(fflush(file), 0);
	assert_null(opened_modules_find_mapped(&list, &id, 0));
	opened_modules_deinit(&list);
	fclose(file);
}

static void closed_files_are_not_found(void **state)
{
	struct opened_modules list = {0};
	FILE *file = tmpfile();
	struct stat st;
	struct module *module = add(&list, file, &st);
	const struct file_id id = file_id_of(&st);

	opened_modules_close_unmapped(&list, UINT64_MAX, release, NULL);
	assert_null(opened_modules_find_mapped(&list, &id, 0));
	assert_ptr_equal(opened_modules_find(&list, &module->version), module);
	opened_modules_deinit(&list);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_open_unchanged_files_are_found),
		cmocka_unit_test(closed_files_are_not_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
