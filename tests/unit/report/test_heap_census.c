// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the sums of heap chunks by size and use, and the remainder, which is the allocator's own
 * memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/heap_census.h"

static void test_classes(void **state)
{
	struct heap_census census = {0};

	assert_int_equal(heap_census_cnt(&census), 0);
	for (uint64_t size = 1; size <= 1024; size++)
		heap_census_add(&census, size, HEAP_FREE);
	assert_int_equal(heap_census_cnt(&census), 6);
	assert_int_equal(heap_class_upto(0), 32);
	assert_int_equal(census.classes[0][HEAP_FREE].count, 32);
	assert_int_equal(heap_class_upto(5), 1024);
	assert_int_equal(census.classes[5][HEAP_FREE].count, 512);
	assert_int_equal(heap_census_all(&census, HEAP_FREE).bytes, 1024 * 1025 / 2);
	assert_int_equal(heap_census_all(&census, HEAP_KNOWN).count, 0);
	heap_census_add(&census, (1ULL << 40) + 1, HEAP_OLDER);
	heap_census_add(&census, UINT64_MAX, HEAP_OLDER);
	assert_int_equal(heap_census_cnt(&census), HEAP_CLASSES);
	assert_true(heap_class_upto(HEAP_CLASSES - 1) == UINT64_MAX);
	assert_int_equal(heap_class_upto(HEAP_CLASSES - 2), 1ULL << 40);
	assert_int_equal(census.classes[HEAP_CLASSES - 1][HEAP_OLDER].count, 2);
}

/* The sums may come from a hostile recording: subtracting them must not underflow. */
static void test_rests(void **state)
{
	struct heap_census census = {.heap_bytes = 1000, .present_bytes = 4096};

	heap_census_add(&census, 300, HEAP_KNOWN);
	heap_census_add(&census, 300, HEAP_OLDER);
	heap_census_add(&census, 300, HEAP_FREE);
	assert_int_equal(heap_census_own(&census), 100);
	heap_census_add(&census, UINT64_MAX, HEAP_FREE);
	heap_census_add(&census, 500, HEAP_OLDER);
	assert_int_equal(heap_census_own(&census), 0);
	assert_int_equal(heap_census_other(&census), 0);
	census.memory = (struct memory_use){8192, 1, 2, 4096};
	assert_int_equal(heap_census_other(&census), 8192);
	assert_int_equal(memory_use_resident(&census.memory), 8195);
}

static void test_join(void **state)
{
	struct heap_census one = {0}, sum = {0};

	/* The struct consists only of numbers, all of which are added. */
	for (size_t i = 0; i < sizeof(one) / sizeof(uint64_t); i++)
		((uint64_t *)&one)[i] = i + 1;
	heap_census_join(&sum, &one);
	heap_census_join(&sum, &one);
	for (size_t i = 0; i < sizeof(one) / sizeof(uint64_t); i++)
		assert_int_equal(((uint64_t *)&sum)[i], 2 * (i + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_rests),
		cmocka_unit_test(test_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
