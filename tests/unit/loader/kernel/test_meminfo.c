// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests reading vmalloc usage from /proc/meminfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "loader/kernel/meminfo.h"

static struct kernel_memory read_text(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct kernel_memory ret;

	assert_non_null(file);
	ret = meminfo_read(file);
	fclose(file);
	return ret;
}

static void test_used(void **state)
{
	struct kernel_memory memory = read_text("MemTotal:        3985760 kB\n"
						"SReclaimable:      82312 kB\n"
						"SUnreclaim:        54020 kB\n"
						"VmallocTotal:   34359738367 kB\n"
						"VmallocUsed:      534856 kB\n"
						"Percpu:             2800 kB\n");

	assert_int_equal(memory.reclaimable, 82312 << 10);
	assert_int_equal(memory.unreclaimable, 54020 << 10);
	assert_int_equal(memory.vmalloc, 534856 << 10);
	memory = read_text("MemTotal:        3985760 kB\n");
	assert_int_equal(memory.vmalloc + memory.unreclaimable + memory.reclaimable, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
