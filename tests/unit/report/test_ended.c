// SPDX-License-Identifier: GPL-2.0-or-later
/* Ended processes are one sum, beside the sites of those that live. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/ended.h"

static struct process living = {.image = 1, .pid = 10}, ended = {.image = 2, .pid = 20},
		      empty = {.image = 3, .pid = 30};

static void are_left_out(void **state)
{
	struct site sites[] = {{.id = 1, .process = &ended, .bytes = 100, .count = 2},
			       {.id = 2, .process = &living, .bytes = 10, .count = 1},
			       {.id = 3, .process = &ended, .bytes = 50, .count = 3},
			       {.id = 4, .bytes = 7, .count = 1}};
	struct process_tally tallies[] = {{.process = &living},
					  {.process = &ended, .ended = true},
					  {.process = &empty, .ended = true}};
	const struct snapshot snap = {
		.sites = sites, .site_cnt = 4, .tallies = tallies, .tally_cnt = 3};
	struct snapshot_view view = snapshot_view_of(&snap);

	assert_int_equal(ended_leave_out(&view), 0);
	assert_int_equal(view.snap.site_cnt, 2);
	assert_int_equal(view.snap.sites[0].id, 2);
	assert_int_equal(view.snap.sites[1].id, 4);
	assert_int_equal(view.snap.ended.processes, 2);
	assert_int_equal(view.snap.ended.bytes, 150);
	assert_int_equal(view.snap.ended.count, 5);
	assert_int_equal(snap.site_cnt, 4);
	snapshot_view_deinit(&view);
}

static void all_live(void **state)
{
	struct site site = {.id = 2, .process = &living, .bytes = 10, .count = 1};
	struct process_tally tally = {.process = &living};
	const struct snapshot snap = {
		.sites = &site, .site_cnt = 1, .tallies = &tally, .tally_cnt = 1};
	struct snapshot_view view = snapshot_view_of(&snap);

	assert_int_equal(ended_leave_out(&view), 0);
	assert_ptr_equal(view.snap.sites, &site);
	assert_int_equal(view.snap.ended.processes, 0);
	snapshot_view_deinit(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_left_out),
		cmocka_unit_test(all_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
