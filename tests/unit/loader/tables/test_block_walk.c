// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which options make memleak collect the allocation times of blocks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loader/tables/block_walk.h"

static bool collects_births(const struct options *opts)
{
	struct block_walker walker = {.opts = opts};
	struct block_walk walk;
	struct snapshot snap;

	block_walk_begin(&walker, 1, &walk, &snap);
	return walker.sites.has_births;
}

/*
 * Allocation times are collected for HTML reports, and for recordings, which may become HTML
 * reports.
 */
static void births_for_pages(void **state)
{
	assert_false(collects_births(&(struct options){.format = FORMAT_TEXT}));
	assert_true(collects_births(&(struct options){.format = FORMAT_HTML}));
	assert_true(collects_births(&(struct options){.listen.len = 1}));
	assert_true(collects_births(&(struct options){.record = "run.mlk"}));
	assert_false(collects_births(&(struct options){
		.format = FORMAT_HTML, .record = "run.mlk", .combined_only = true}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(births_for_pages)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
