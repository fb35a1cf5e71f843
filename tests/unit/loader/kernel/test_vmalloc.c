// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading vmalloc usage from /proc/meminfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loader/kernel/vmalloc.h"

static uint64_t read_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	uint64_t bytes;

	assert_non_null(file);
	bytes = vmalloc_bytes(file);
	fclose(file);
	return bytes;
}

static void test_used(void **state)
{
	assert_int_equal(read_text("MemTotal:        3985760 kB\n"
				   "VmallocTotal:   34359738367 kB\n"
				   "VmallocUsed:      534856 kB\n"
				   "Percpu:             2800 kB\n"),
			 534856 << 10);
	assert_int_equal(read_text("MemTotal:        3985760 kB\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
