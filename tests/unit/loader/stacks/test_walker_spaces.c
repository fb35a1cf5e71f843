// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which mappings are kept in the helper that walks stacks with libdwfl, and where it is told
 * that files begin. The helper is replaced by functions that record what they are sent.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader/stacks/walker_spaces.h"

#define PAGE 0x1000ULL
#define CODES_MAX 8

static struct walker_code sent[CODES_MAX];
static size_t sent_cnt;

int walker__new(struct walker **ret)
{
	*ret = (struct walker *)sent;
	return 0;
}

void walker__free(struct walker *walker)
{
}

int walker__open(struct walker *walker, uint32_t space, uint64_t deadline_ns)
{
	return 0;
}

int walker__add_code(struct walker *walker, uint32_t space, int fd, const struct walker_code *code,
		     uint64_t deadline_ns)
{
	assert_true(sent_cnt < CODES_MAX);
	sent[sent_cnt++] = *code;
	return 0;
}

void walker__close(struct walker *walker, uint32_t space)
{
}

int walker__walk(struct walker *walker, uint32_t space, const struct unwind_copy *copy,
		 uint64_t deadline_ns, struct walker_stack *ret)
{
	return -1;
}

/*
 * Mappings needed by a stack since the last report are kept in the helper, so they need not be sent
 * again.
 */
static void needed_mappings_stay(void **state)
{
	struct walker_code_space space = {.pid = 1, .generation = 7};
	struct walker_spaces spaces = {.items = &space, .cnt = 1};

	assert_null(walker_spaces_find(&spaces, 6));
	assert_ptr_equal(walker_spaces_find(&spaces, 7), &space);
	walker_spaces_drop_unused(&spaces);
	assert_int_equal(spaces.cnt, 1);
	assert_false(space.used);
}

/* The path of a file, and what /proc/PID/maps shows for it. */
struct known_file {
	char path[PATH_MAX];
	struct stat st;
};

static void find_file(const char *path, struct known_file *ret)
{
	assert_non_null(realpath(path, ret->path));
	assert_int_equal(stat(ret->path, &ret->st), 0);
}

static size_t print_mapping(char *to, uint64_t page, uint64_t offset, bool is_code,
			    const struct known_file *file)
{
	return (size_t)sprintf(to, "%llx-%llx r-%cp %08llx %02x:%02x %llu %s\n", page * PAGE,
			       (page + 1) * PAGE, is_code ? 'x' : '-', (unsigned long long)offset,
			       major(file->st.st_dev), minor(file->st.st_dev),
			       (unsigned long long)file->st.st_ino, file->path);
}

/* Two files whose mappings alternate; the first one is mapped twice. */
static int alternating_maps(const void *arg, struct proc_maps *ret)
{
	const struct known_file *files = arg;
	char text[8 * PATH_MAX];
	size_t len = 0;

	len += print_mapping(text + len, 16, 8 * PAGE, true, &files[0]);
	len += print_mapping(text + len, 17, 0, false, &files[0]);
	len += print_mapping(text + len, 18, 0, true, &files[1]);
	len += print_mapping(text + len, 19, PAGE, true, &files[0]);
	len += print_mapping(text + len, 20, PAGE, true, &files[1]);
	len += print_mapping(text + len, 21, 0, true, &files[0]);
	len += print_mapping(text + len, 22, 2 * PAGE, true, &files[0]);
	return proc_maps_parse(text, len, ret);
}

/* For each code mapping, the helper is sent the nearest start of the file below it. */
static void starts_of_files(void **state)
{
	static const uint64_t pages[] = {0, 18, 17, 18, 21, 21};
	struct known_file files[2];
	struct user_budgets budgets = {0};
	struct walker_spaces spaces = {.budgets = &budgets};
	const struct walker_subject subject = {
		.pid = getpid(),
		.uid = getuid(),
		.generation = 1,
		.read_maps = alternating_maps,
		.arg = files,
	};

	find_file("/proc/self/exe", &files[0]);
	find_file("/bin/sh", &files[1]);
	assert_int_equal(walker_spaces_add(&spaces, &subject), 0);
	assert_int_equal(sent_cnt, sizeof(pages) / sizeof(*pages));
	for (size_t i = 0; i < sent_cnt; i++)
		assert_int_equal(sent[i].headers, pages[i] * PAGE);
	walker_spaces_deinit(&spaces);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needed_mappings_stay),
		cmocka_unit_test(starts_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
