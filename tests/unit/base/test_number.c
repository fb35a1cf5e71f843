// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests parsing of numbers in text: limits, and where parsing stops. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/number.h"

static void assert_takes(const char *text, unsigned int base, int err, uint64_t number, size_t len)
{
	uint64_t value = 77;
	const char *at = text;

	assert_int_equal(number_take(&at, NULL, base, &value), err);
	assert_true(value == (err ? 77 : number));
	assert_int_equal(at - text, len);
	at = text;
	assert_int_equal(number_take(&at, text + strlen(text), base, &value), err);
	assert_int_equal(at - text, len);
}

static void digits_end_at_the_first_other_byte(void **state)
{
	const char *at = "123456";
	uint64_t value;

	assert_takes("0", 10, 0, 0, 1);
	assert_takes("12ab", 10, 0, 12, 2);
	assert_takes("12ab", 16, 0, 0x12ab, 4);
	assert_takes("fFg", 16, 0, 0xff, 2);
	assert_takes("", 10, -EINVAL, 0, 0);
	assert_takes(" 1", 10, -EINVAL, 0, 0);
	assert_takes("-1", 10, -EINVAL, 0, 0);
	assert_takes("0x1", 16, 0, 0, 1);
	assert_takes("18446744073709551615", 10, 0, UINT64_MAX, 20);
	assert_takes("18446744073709551616,", 10, -ERANGE, 0, 20);
	assert_takes("99999999999999999999999 ", 10, -ERANGE, 0, 23);
	assert_takes("0000000000000000000000001", 16, 0, 1, 25);
	assert_takes("ffffffffffffffff", 16, 0, UINT64_MAX, 16);
	assert_takes("10000000000000000", 16, -ERANGE, 0, 17);
	assert_int_equal(number_take(&at, at + 3, 10, &value), 0);
	assert_int_equal(value, 123);
	assert_int_equal(number_take(&at, at, 10, &value), -EINVAL);
}

static void assert_seconds(const char *text, int err, uint64_t ns, uint64_t unit_ns, size_t len)
{
	uint64_t value = 77, unit = 77;
	const char *at = text;

	assert_int_equal(number_take_seconds(&at, &value, &unit), err);
	assert_true(value == (err ? 77 : ns) && unit == (err ? 77 : unit_ns));
	assert_int_equal(at - text, len);
}

static void seconds_may_have_a_point(void **state)
{
	assert_seconds("5", 0, 5000000000, 1000000000, 1);
	assert_seconds("5.", 0, 5000000000, 1000000000, 2);
	assert_seconds("0.25,", 0, 250000000, 10000000, 4);
	assert_seconds(".5", 0, 500000000, 100000000, 2);
	assert_seconds("1.0123456789", 0, 1012345678, 1, 12);
	assert_seconds("1.5.5", 0, 1500000000, 100000000, 3);
	assert_seconds("", -EINVAL, 0, 0, 0);
	assert_seconds(".", -EINVAL, 0, 0, 0);
	assert_seconds("-1", -EINVAL, 0, 0, 0);
	assert_seconds("18446744073.709551615", 0, UINT64_MAX, 1, 21);
	assert_seconds("18446744073.709551616", -ERANGE, 0, 0, 21);
	assert_seconds("18446744074", -ERANGE, 0, 0, 11);
	assert_seconds("99999999999999999999.5s", -ERANGE, 0, 0, 22);
}

static void a_whole_text_is_within_bounds(void **state)
{
	uint64_t value = 77;

	assert_int_equal(number_parse("5", 5, 5, &value), 0);
	assert_int_equal(value, 5);
	assert_int_equal(number_parse("4", 5, 9, &value), -ERANGE);
	assert_int_equal(number_parse("10", 5, 9, &value), -ERANGE);
	assert_int_equal(number_parse("99999999999999999999999", 0, UINT64_MAX, &value), -ERANGE);
	assert_int_equal(number_parse("99999999999999999999999x", 0, 1, &value), -EINVAL);
	assert_int_equal(number_parse("7x", 0, 9, &value), -EINVAL);
	assert_int_equal(number_parse("+7", 0, 9, &value), -EINVAL);
	assert_int_equal(number_parse("", 0, 9, &value), -EINVAL);
	assert_int_equal(value, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digits_end_at_the_first_other_byte),
		cmocka_unit_test(seconds_may_have_a_point),
		cmocka_unit_test(a_whole_text_is_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
