// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that the maps of a set (the known parts of a heap) and its unknown ranges do not overlap
 * after sorting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proof/heap_set.h"

static void add_map(struct heap_set *set, uint64_t info, uint64_t start, uint64_t end)
{
	const struct heap_map map = {.info = info, .start = start, .tail = end, .end = end};

	assert_int_equal(heap_set_add(set, &map), 0);
}

static void check_unknown(const struct heap_set *set, const struct heap_span *expected, size_t cnt)
{
	assert_int_equal(set->unknown_cnt, cnt);
	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(set->unknown[i].start, expected[i].start);
		assert_int_equal(set->unknown[i].end, expected[i].end);
	}
}

/*
 * A map that overlaps an earlier one is removed. Its part outside of the earlier map becomes an
 * unknown range.
 */
static void test_removed_map(void **state)
{
	const struct heap_span expected[] = {{0x3000, 0x5000}};
	struct heap_set set = {0};

	add_map(&set, 0, 0x2000, 0x5000);
	add_map(&set, 0, 0x1000, 0x3000);
	assert_int_equal(heap_set_sort(&set), 0);
	assert_int_equal(set.cnt, 1);
	check_unknown(&set, expected, 1);
	heap_set_deinit(&set);
}

/*
 * An unknown range is cut at each map. A map with a heap_info begins at the heap_info, before its
 * first chunk.
 */
static void test_range_with_maps(void **state)
{
	const struct heap_span expected[] = {
		{0x1000, 0x2000}, {0x3000, 0x4000}, {0x5000, 0x6000}, {0x9000, 0xa000}};
	struct heap_set set = {0};

	add_map(&set, 0x4000, 0x4100, 0x5000);
	add_map(&set, 0, 0x2000, 0x3000);
	add_map(&set, 0, 0x6000, 0x7000);
	assert_int_equal(heap_set_add_unknown(&set, 0x9000, 0xa000), 0);
	assert_int_equal(heap_set_add_unknown(&set, 0x1000, 0x6800), 0);
	assert_int_equal(heap_set_sort(&set), 0);
	check_unknown(&set, expected, 4);
	heap_set_deinit(&set);
}

/* Memory in two unknown ranges is in exactly one of them after sorting. */
static void test_overlapping_ranges(void **state)
{
	const struct heap_span expected[] = {{0x1000, 0x3000}, {0x3000, 0x4000}};
	struct heap_set set = {0};

	assert_int_equal(heap_set_add_unknown(&set, 0x2000, 0x4000), 0);
	assert_int_equal(heap_set_add_unknown(&set, 0x1000, 0x3000), 0);
	assert_int_equal(heap_set_add_unknown(&set, 0x1000, 0x2000), 0);
	assert_int_equal(heap_set_sort(&set), 0);
	check_unknown(&set, expected, 2);
	heap_set_deinit(&set);
}

/* Many maps cut an unknown range into parts, none of which gets lost. */
static void test_many_parts(void **state)
{
	const uint64_t step = 0x1000, cnt = 1000;
	struct heap_set set = {0};

	assert_int_equal(heap_set_add_unknown(&set, step, (2 * cnt + 2) * step), 0);
	for (uint64_t i = 1; i <= cnt; i++)
		add_map(&set, 0, 2 * i * step, (2 * i + 1) * step);
	assert_int_equal(heap_set_sort(&set), 0);
	assert_int_equal(set.unknown_cnt, cnt + 1);
	for (uint64_t at = 0; at < 2 * cnt + 3; at++) {
		bool is_unknown = at % 2 && at < 2 * cnt + 2;

		assert_int_equal(heap_set_is_unknown(&set, at * step), is_unknown);
		assert_int_equal(heap_set_is_unknown(&set, (at + 1) * step - 1), is_unknown);
	}
	heap_set_deinit(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_removed_map),
		cmocka_unit_test(test_range_with_maps),
		cmocka_unit_test(test_overlapping_ranges),
		cmocka_unit_test(test_many_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
