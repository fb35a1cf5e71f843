// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the CPU time and memory that memleak reports as its own cost: those of memleak itself, of
 * running helpers and of ended ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "helper/helper.h"
#include "metrics/own_cost.h"

#define USED_NS 200000000
#define USED_BYTES (64 << 20)

/*
 * Uses USED_BYTES of memory and USED_NS of CPU time, reports to the parent, and waits to be ended.
 */
static void work(int sock)
{
	char *memory = malloc(USED_BYTES);
	char end;

	memset(memory, 1, USED_BYTES);
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < USED_NS)
		;
	if (write(sock, memory, 1) == 1 && read(sock, &end, 1) < 0)
		abort();
}

static const struct helper_kind kind = {
	.name = "busy",
	.rights = HELPER_KEEPS_RIGHTS,
	.work = work,
};
HELPER_KIND(kind);

static void start(struct helper *helper)
{
	char ready;

	assert_int_equal(helper_start(helper), 0);
	assert_int_equal(read(helper->sock, &ready, 1), 1);
}

static void helpers_count(void **state)
{
	const double used_seconds = USED_NS / 1e9;
	struct own_cost alone, both, one, none;
	struct helper first = HELPER_INIT(&kind);
	struct helper second = HELPER_INIT(&kind);

	own_cost_read(&alone);
	assert_true(alone.resident_bytes > 0);
	start(&first);
	start(&second);
	own_cost_read(&both);
	assert_true(both.cpu_seconds >= alone.cpu_seconds + 2 * used_seconds);
	assert_true(both.resident_bytes >= alone.resident_bytes + 2 * USED_BYTES);

	/*
	 * The CPU time of a helper still counts after the helper was stopped or killed: a counter
	 * must not fall.
	 */
	helper_stop(&first, 0);
	own_cost_read(&one);
	assert_true(one.cpu_seconds >= both.cpu_seconds);
	assert_in_range(one.resident_bytes, alone.resident_bytes + USED_BYTES,
			both.resident_bytes - USED_BYTES / 2);
	helper_stop(&second, 1000);
	own_cost_read(&none);
	assert_true(none.cpu_seconds >= one.cpu_seconds);
	assert_true(none.resident_bytes < one.resident_bytes - USED_BYTES / 2);
	assert_null(helper_running());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(helpers_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
