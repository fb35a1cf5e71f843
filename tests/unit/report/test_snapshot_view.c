// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what a snapshot view leaves out, and the sum of reserved address space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/reserves.h"

static void reserves_are_left_out(void **state)
{
	struct site sites[] = {
		{.id = 1, .kind = KIND_HEAP, .bytes = 16, .count = 1},
		{.id = 2, .kind = KIND_RESERVE, .bytes = 1ULL << 42, .count = 2},
		{.id = 3, .kind = KIND_STACK, .bytes = 8192, .count = 1},
		{.id = 4, .kind = KIND_RESERVE, .bytes = 4096, .count = 1},
		{.id = 5, .kind = KIND_MMAP, .bytes = 4096, .count = 1},
	};
	struct block blocks[] = {
		{.site = 0}, {.site = 1, .addr = 1}, {.site = 1, .addr = 2}, {.site = 2},
		{.site = 3}, {.site = 4, .addr = 5}};
	const struct snapshot snap = {
		.sites = sites, .site_cnt = 5, .blocks = blocks, .block_cnt = 6};
	struct snapshot_view view = snapshot_view_of(&snap);

	(void)state;
	assert_int_equal(reserves_leave_out(&view), 0);
	assert_int_equal(view.snap.site_cnt, 3);
	assert_int_equal(view.snap.sites[1].id, 3);
	assert_int_equal(view.snap.sites[2].id, 5);
	assert_int_equal(view.snap.block_cnt, 3);
	assert_int_equal(view.snap.blocks[2].site, 2);
	assert_int_equal(view.snap.blocks[2].addr, 5);
	assert_int_equal(view.snap.reserved.bytes, (1ULL << 42) + 4096);
	assert_int_equal(view.snap.reserved.count, 3);
	assert_int_equal(view.snap.reserved.sites, 2);
	assert_int_equal(snap.site_cnt, 5);
	snapshot_view_deinit(&view);
}

static void nothing_is_copied(void **state)
{
	struct site sites[] = {{.id = 1, .kind = KIND_MMAP, .bytes = 16, .count = 1}};
	const struct snapshot snap = {.sites = sites, .site_cnt = 1};
	struct snapshot_view view = snapshot_view_of(&snap);

	(void)state;
	assert_int_equal(reserves_leave_out(&view), 0);
	assert_ptr_equal(view.snap.sites, sites);
	assert_int_equal(view.snap.reserved.sites, 0);
	snapshot_view_deinit(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserves_are_left_out),
		cmocka_unit_test(nothing_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
