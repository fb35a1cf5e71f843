// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests lists of executable mappings: merging, lookup, and the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "loader/stacks/mapping_list.h"

#define PAGE 0x1000
#define NO_FILE (-ENOENT)

/*
 * Returns a mapping that has page n of a file at page n of memory. The file has the given inode
 * number.
 */
static struct mapping page(uint64_t n, uint64_t inode)
{
	return (struct mapping){
		.start = n * PAGE,
		.end = (n + 1) * PAGE,
		.offset = n * PAGE,
		.file.ino = inode,
		.path = "",
	};
}

static void add(struct mapping_list *list, uint64_t n, ssize_t file)
{
	struct mapping mapping = page(n, file < 0 ? 0 : (uint64_t)file);

	mapping_list_add(list, &mapping, file);
}

static void pieces_without_file_are_joined(void **state)
{
	struct mapping_list list;

	assert_int_equal(mapping_list_init(&list, 5), 0);
	add(&list, 1, NO_FILE);
	add(&list, 2, -ESRCH);
	add(&list, 4, NO_FILE);
	add(&list, 5, 7);
	add(&list, 6, 7);
	assert_int_equal(list.cnt, 4);
	assert_int_equal(list.items[0].start, PAGE);
	assert_int_equal(list.items[0].end, 3 * PAGE);
	assert_int_equal(list.items[1].start, 4 * PAGE);
	assert_int_equal(list.items[2].end, 6 * PAGE);
	assert_int_equal(list.items[3].base, 0);
	mapping_list_deinit(&list);
}

static void the_same_mapping_is_found(void **state)
{
	struct mapping mapping = page(2, 7);
	struct mapping_list list;

	assert_int_equal(mapping_list_init(&list, 3), 0);
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	add(&list, 1, 5);
	add(&list, 2, 7);
	add(&list, 3, 9);
	assert_int_equal(mapping_list_file(&list, &mapping), 7);
	mapping.file.ino = 8;
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	mapping = page(2, 7);
	mapping.file.dev = 1;
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	mapping = page(2, 7);
	mapping.offset = 0;
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	mapping = page(2, 7);
	mapping.end += PAGE;
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	mapping = page(4, 7);
	assert_int_equal(mapping_list_file(&list, &mapping), -ENOENT);
	mapping_list_deinit(&list);
}

/* Mappings without an unwind table are dropped first: pages 0, 3, 6, … */
static void what_has_no_table_goes_first(void **state)
{
	struct mapping_list list;

	assert_int_equal(mapping_list_init(&list, 9), 0);
	for (uint64_t i = 0; i < 9; i++) {
		add(&list, i, i % 3 ? 7 : NO_FILE);
		list.items[i].granule_cnt = i % 3 ? 16 : 0;
	}
	mapping_list_limit(&list, 9);
	assert_int_equal(list.cnt, 9);
	mapping_list_limit(&list, 7);
	assert_int_equal(list.cnt, 7);
	for (size_t i = 0; i < list.cnt; i++) {
		assert_int_equal(list.items[i].granule_cnt, i ? 16 : 0);
		assert_int_equal(list.sources[i].file, i ? 7 : NO_FILE);
	}
	mapping_list_limit(&list, 3);
	assert_int_equal(list.cnt, 3);
	for (size_t i = 0; i < list.cnt; i++)
		assert_int_equal(list.items[i].granule_cnt, 16);
	assert_int_equal(list.items[2].start, 4 * PAGE);
	mapping_list_deinit(&list);
}

static void equal_if_the_programs_see_no_difference(void **state)
{
	struct mapping_list lists[2];

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(mapping_list_init(&lists[i], 2), 0);
		add(&lists[i], 1, 5);
	}
	assert_true(mapping_list_equal(&lists[0], &lists[1]));
	lists[0].items[0].permanent = 1;
	assert_false(mapping_list_equal(&lists[0], &lists[1]));
	lists[0].items[0].permanent = 0;
	add(&lists[1], 2, 5);
	assert_false(mapping_list_equal(&lists[0], &lists[1]));
	for (size_t i = 0; i < 2; i++)
		mapping_list_deinit(&lists[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_without_file_are_joined),
		cmocka_unit_test(the_same_mapping_is_found),
		cmocka_unit_test(what_has_no_table_goes_first),
		cmocka_unit_test(equal_if_the_programs_see_no_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
