// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests finding the number that makes up most of a stream. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/majority.h"

static void one_of_many(void **state)
{
	struct majority majority = {0};

	assert_int_equal(majority_number(&majority), 0);
	/* Two of three numbers are 42, and the remaining numbers are all different. */
	for (uint32_t i = 0; i < 3000; i++)
		majority_add(&majority, i % 3 ? 42 : 1000 + i);
	assert_int_equal(majority_number(&majority), 42);
}

static void no_majority(void **state)
{
	struct majority majority = {0};

	for (uint32_t i = 0; i < 1000; i++)
		majority_add(&majority, 1 + i % 2);
	assert_int_equal(majority_number(&majority), 0);
	majority_add(&majority, 2);
	assert_int_equal(majority_number(&majority), 2);
}

/* If a number is returned for a random stream, it makes up more than half of the stream. */
static void never_wrong(void **state)
{
	uint32_t seed = 1;

	for (int run = 0; run < 1000; run++) {
		struct majority majority = {0};
		uint32_t counts[8] = {0}, found;

		for (int i = 0; i < 50; i++) {
			uint32_t number;

			seed = seed * 1664525 + 1013904223;
			number = seed >> 31 ? 1 : 1 + (seed >> 20) % 7;
			counts[number]++;
			majority_add(&majority, number);
		}
		found = majority_number(&majority);
		assert_true(!found || counts[found] > 25);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_many),
		cmocka_unit_test(no_majority),
		cmocka_unit_test(never_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
