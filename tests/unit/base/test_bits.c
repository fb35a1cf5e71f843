// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests sets of numbers: membership and iteration order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bits.h"

static void keeps_numbers(void **state)
{
	static const size_t numbers[] = {0, 63, 64, 1000, 70000};
	struct bits bits = {0};
	size_t at = 0;

	assert_false(bits_has(&bits, 0));
	assert_true(bits_next(&bits, 0) == SIZE_MAX);
	for (size_t i = 5; i-- > 0;)
		assert_int_equal(bits_add(&bits, numbers[i]), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_true(bits_has(&bits, numbers[i]));
		assert_false(bits_has(&bits, numbers[i] + 2));
		at = bits_next(&bits, at);
		assert_int_equal(at++, numbers[i]);
	}
	assert_true(bits_next(&bits, at) == SIZE_MAX);
	bits_clear(&bits);
	assert_true(bits_next(&bits, 0) == SIZE_MAX);
	assert_false(bits_has(&bits, 70000));
	bits_deinit(&bits);
	assert_int_equal(bits.cap, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_numbers)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
