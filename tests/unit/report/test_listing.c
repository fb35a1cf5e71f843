// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the order in which stacks are listed, and that none is listed twice. */
#include "report/listing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/runtime_objects.h"

static const struct process process = {.pid = 1}, other = {.pid = 2};
static const struct site large = {.process = &process, .frame_cnt = 1},
			 in_pool = {.process = &process, .frame_cnt = 1},
			 of_other = {.process = &other, .frame_cnt = 1},
			 sum = {.process = &process, .frame_cnt = 1};

static void assert_list(const struct report *report, const struct site *const *expected, size_t cnt)
{
	const struct report_site **list;
	size_t listed;

	assert_int_equal(report_list(report, report->site_cnt, &listed, &list), 0);
	assert_int_equal(listed, cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_ptr_equal(list[i]->site, expected[i]);
	free(list);
}

/* The stacks of a suspect come first. */
static void suspects(void **state)
{
	struct report_site sites[] = {{.site = &large}, {.site = &in_pool}};
	struct suspect suspect = {.site = &sites[1]};
	const struct report report = {
		.sites = sites, .site_cnt = 2, .suspects = &suspect, .suspect_cnt = 1};
	const struct site *const expected[] = {&in_pool, &large};

	assert_list(&report, expected, 2);
}

/*
 * If a suspect's site is also in the report, the report's entry is listed, as it has the details.
 */
static void details_of_suspects(void **state)
{
	struct report_site sites[] = {{.site = &large}};
	const struct report_site growing = {.site = &large};
	struct suspect suspect = {.site = &growing};
	const struct report report = {
		.sites = sites, .site_cnt = 1, .suspects = &suspect, .suspect_cnt = 1};
	const struct report_site **list;
	size_t listed;

	assert_int_equal(report_list(&report, 1, &listed, &list), 0);
	assert_int_equal(listed, 1);
	assert_ptr_equal(list[0], &sites[0]);
	free(list);
}

/*
 * A suspect of a runtime's objects with its own stack is listed even if its site is too small for
 * the report.
 */
static void objects_with_a_stack(void **state)
{
	static const struct runtime_objects objects;
	struct report_site sites[] = {{.site = &large}};
	const struct report_site small = {.site = &of_other, .objects = &objects};
	struct suspect suspect = {.site = &small};
	const struct report report = {
		.sites = sites, .site_cnt = 1, .suspects = &suspect, .suspect_cnt = 1};
	const struct site *const expected[] = {&of_other};

	assert_list(&report, expected, 1);
}

/* If the suspect is the sum of a pool, one of the pool's stacks is listed in its place. */
static void sums_of_pools(void **state)
{
	struct report_site sites[] = {{.site = &large},
				      {.site = &of_other, .in_pool = true},
				      {.site = &in_pool, .in_pool = true}};
	const struct report_site whole = {.site = &sum, .in_pool = true};
	struct suspect suspect = {.site = &whole};
	const struct report report = {
		.sites = sites, .site_cnt = 3, .suspects = &suspect, .suspect_cnt = 1};
	const struct site *const expected[] = {&in_pool, &large, &of_other};

	assert_list(&report, expected, 3);
}

static void two_pools(void **state)
{
	static const struct site second = {.process = &process, .frame_cnt = 1};
	struct report_site sites[] = {{.site = &large},
				      {.site = &in_pool, .in_pool = true},
				      {.site = &second, .in_pool = true}};
	const struct report_site whole = {.site = &sum, .in_pool = true};
	struct suspect of_pools[] = {{.site = &whole}, {.site = &whole}};
	const struct report report = {
		.sites = sites, .site_cnt = 3, .suspects = of_pools, .suspect_cnt = 2};
	const struct site *const expected[] = {&in_pool, &second, &large};

	assert_list(&report, expected, 3);
}

/*
 * Many sites are listed in the report's order, after those of losses and suspects. Searching the
 * whole list for each of them would take a minute.
 */
static void many_sites(void **state)
{
	enum { CNT = 200000, LOSSES = 2, SUSPECTS = 3 };
	struct site *sites = calloc(CNT, sizeof(*sites));
	struct report_site *shown = calloc(CNT, sizeof(*shown));
	const struct site **expected = calloc(CNT, sizeof(*expected));
	struct proven_loss losses[LOSSES] = {0};
	struct suspect suspects[SUSPECTS] = {0};
	const struct report report = {.sites = shown,
				      .site_cnt = CNT,
				      .losses = losses,
				      .loss_cnt = LOSSES,
				      .suspects = suspects,
				      .suspect_cnt = SUSPECTS};

	assert_true(sites && shown && expected);
	for (size_t i = 0; i < CNT; i++)
		shown[i].site = &sites[i];
	losses[0].site = &shown[CNT - 1];
	losses[1].site = &shown[CNT / 2];
	suspects[0].site = &shown[0];
	suspects[1].site = &shown[CNT / 2];
	suspects[2].site = &shown[CNT - 2];
	expected[0] = &sites[CNT - 1];
	expected[1] = &sites[CNT / 2];
	expected[2] = &sites[0];
	expected[3] = &sites[CNT - 2];
	for (size_t i = 1, at = 4; i < CNT - 2; i++)
		if (i != CNT / 2)
			expected[at++] = &sites[i];
	assert_list(&report, expected, CNT);
	free(expected);
	free(shown);
	free(sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suspects),      cmocka_unit_test(objects_with_a_stack),
		cmocka_unit_test(sums_of_pools), cmocka_unit_test(two_pools),
		cmocka_unit_test(many_sites),    cmocka_unit_test(details_of_suspects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
