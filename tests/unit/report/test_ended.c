// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that the blocks of ended processes are summed up, separate from the sites of living
 * processes.
 */
#include <setjmp.h>
#include <signal.h>
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

/* The sums of an ended process contain neither inherited blocks nor reserved address space. */
static void given_ones_are_named(void **state)
{
	struct process parser = {.image = 4, .pid = 40, .comm = (char *)"parser"};
	struct site sites[] = {
		{.id = 1,
		 .process = &parser,
		 .bytes = 100,
		 .count = 3,
		 .inherited_bytes = 60,
		 .inherited_count = 2},
		{.id = 2, .process = &living, .bytes = 10, .count = 1},
		{.id = 3, .process = &parser, .bytes = 50, .count = 3},
		{.id = 4, .process = &parser, .bytes = 4096, .count = 1, .kind = KIND_RESERVE}};
	struct process_tally tallies[] = {{.process = &living},
					  {.process = &parser, .ended_here = true},
					  {.process = &empty, .ended_here = true}};
	const struct snapshot snap = {
		.sites = sites, .site_cnt = 4, .tallies = tallies, .tally_cnt = 3};
	struct ended_processes list = {0};

	assert_int_equal(ended_processes_add(&list, &snap, &snap), 0);
	assert_int_equal(list.total, 1);
	assert_int_equal(list.named_cnt, 1);
	assert_int_equal(list.bytes, 90);
	assert_int_equal(list.named[0].pid, 40);
	assert_string_equal(list.named[0].comm, "parser");
	assert_int_equal(list.named[0].bytes, 90);
	assert_int_equal(list.named[0].count, 4);
	ended_processes_deinit(&list);
	assert_int_equal(list.total, 0);
}

/* Ends ten processes in turn. Process i has held[i] bytes. Only the largest processes are named. */
static void largest_stay(void **state)
{
	static const uint64_t held[] = {30, 10, 20, 60, 40, 50, 90, 0, 70, 5};
	static const uint64_t largest[ENDED_NAMED] = {90, 70, 60, 50, 40};
	struct ended_processes list = {0};

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		struct site site = {.process = &ended, .bytes = held[i], .count = held[i] != 0};
		struct process_tally tally = {.process = &ended, .ended_here = true};
		const struct snapshot snap = {
			.sites = &site, .site_cnt = 1, .tallies = &tally, .tally_cnt = 1};

		assert_int_equal(ended_processes_add(&list, &snap, &snap), 0);
	}
	assert_int_equal(list.total, 9);
	assert_int_equal(list.bytes, 375);
	assert_int_equal(list.named_cnt, ENDED_NAMED);
	for (size_t i = 0; i < ENDED_NAMED; i++)
		assert_int_equal(list.named[i].bytes, largest[i]);
	ended_processes_deinit(&list);
}

/*
 * A process for which memory ran out is listed first, even if it held nothing that is known, or its
 * sites are left out of the report.
 */
static void memory_ran_out(void **state)
{
	static struct process small = {.pid = 50, .image = 50, .comm = (char *)"small"};
	static struct process large = {.pid = 60, .image = 60, .comm = (char *)"large"};
	static struct process segv = {.pid = 70, .image = 70, .comm = (char *)"segv"};
	struct site sites[] = {{.process = &small, .bytes = 10, .count = 1},
			       {.process = &large, .bytes = 90, .count = 1},
			       {.process = &segv, .bytes = 20, .count = 1}};
	struct process_tally tallies[] = {
		{.process = &large, .ended_here = true},
		{.process = &segv, .ended_here = true, .killed_by = SIGSEGV},
		{.process = &small, .ended = true, .killed_by = SIGKILL, .out_of_memory = true},
		{.process = &empty, .ended_here = true, .out_of_memory = true},
		{.process = &living, .out_of_memory = true},
		{.process = &ended, .ended = true, .killed_by = SIGKILL}};
	const struct snapshot snap = {
		.sites = sites, .site_cnt = 3, .tallies = tallies, .tally_cnt = 6};
	const struct snapshot view = {
		.sites = sites + 1, .site_cnt = 2, .tallies = tallies, .tally_cnt = 6};
	struct ended_processes list = {0};

	assert_int_equal(ended_processes_add(&list, &snap, &view), 0);
	assert_int_equal(list.total, 4);
	assert_int_equal(list.bytes, 120);
	assert_string_equal(list.named[0].comm, "small");
	assert_true(list.named[0].out_of_memory);
	assert_int_equal(list.named[0].killed_by, SIGKILL);
	assert_int_equal(list.named[0].bytes, 10);
	assert_true(list.named[1].out_of_memory);
	assert_int_equal(list.named[1].count, 0);
	assert_string_equal(list.named[2].comm, "large");
	assert_int_equal(list.named[2].killed_by, 0);
	assert_int_equal(list.named[3].killed_by, SIGSEGV);
	ended_processes_deinit(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(are_left_out),         cmocka_unit_test(all_live),
		cmocka_unit_test(given_ones_are_named), cmocka_unit_test(largest_stay),
		cmocka_unit_test(memory_ran_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
