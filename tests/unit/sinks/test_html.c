// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests HTML reports: compares them with expected files, without the shared style and script, and
 * tests that a browser would find the right JSON, whatever names it contains.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "tests/unit/lib/page.h"
#include "tests/unit/lib/scenes.h"
#include "tests/unit/sinks/history.h"

static void expect_page(const char *name, const struct snapshot *snaps, size_t cnt)
{
	cleanup_free char *page = print_history(&sink_html, snaps, cnt);

	compare_page(name, page);
}

static void as_expected(void **state)
{
	const struct snapshot hostile_snapshot =
		SNAPSHOT(hostile_sites, .lost = {[LOSS_UNWIND] = 3});
	const struct snapshot recursion = SNAPSHOT(recursive_sites);
	const struct snapshot kinds = SNAPSHOT(kind_sites), empty = SNAPSHOT_OF(NULL, 0);
	const struct snapshot proved = SNAPSHOT(proved_sites, .proof = &proof_still);
	const struct snapshot counted =
		SNAPSHOT(proved_sites, .proof = &proof_still, .census = &census_of_one);
	const struct snapshot sampled =
		SNAPSHOT(sampled_sites, .sampling = {SAMPLING_BYTES, 524288});

	expect_page("story", story, LENGTH(story));
	expect_page("hostile", &hostile_snapshot, 1);
	expect_page("recursion", &recursion, 1);
	expect_page("kinds", &kinds, 1);
	expect_page("sampled", &sampled, 1);
	expect_page("prove", &proved, 1);
	expect_page("census", &counted, 1);
	expect_page("empty", &empty, 1);
}

/*
 * Tests names that could close the script element, open another one, or begin a comment that hides
 * its end.
 */
static void names_are_no_markup(void **state)
{
	static const char *const names[] = {
		"</script><script>alert(1)</script>", "<!--<script>", "]]>",  "</SCRIPT >",
		"\xe2\x80\xa8\xe2\x80\xa9",           "<\xff\xc0</",  "&lt;", "\\u003c/script>",
	};

	for (size_t i = 0; i < LENGTH(names); i++) {
		struct process process = {.pid = 1, .comm = (char *)names[i]};
		struct site site = {
			.id = 1, .process = &process, .bytes = 8, .count = 1, STACK(small_stack)};
		const struct snapshot snap = {.sites = &site, .site_cnt = 1};
		cleanup_free char *page = print_history(&sink_html, &snap, 1);

		check_page(page);
	}
}

/* The report's script loads nothing, and never inserts names as markup. */
static void the_script_is_harmless(void **state)
{
	static const char *const never[] = {
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
		"fetch(",    "import(",   "XMLHttpRequest",     "src=",           "url(",
	};
	cleanup_free char *page = print_history(&sink_html, story, 1);

	for (size_t i = 0; i < LENGTH(never); i++)
		if (strstr(page, never[i]))
			fail_msg("the page has %s", never[i]);
	assert_non_null(strstr(page, "default-src 'none'"));
	/*
	 * "http" occurs only in http-equiv and in the XML namespace of SVG, which browsers do not
	 * fetch.
	 */
	assert_int_equal(count_of(page, "http"), 2);
}

/* One function leaks in two processes of the same name: it is one suspect. */
static void suspects_of_workers(void **state)
{
	enum { REPORTS = 12 };
	static struct process workers[] = {{.image = 1, .pid = 1, .comm = (char *)"w"},
					   {.image = 2, .pid = 2, .comm = (char *)"w"}};
	struct site sites[REPORTS][2];
	struct snapshot snaps[REPORTS];
	cleanup_free char *page = NULL;

	for (uint64_t i = 0; i < REPORTS; i++) {
		for (size_t j = 0; j < 2; j++)
			sites[i][j] = (struct site){.id = j + 1,
						    .process = &workers[j],
						    .bytes = (i + 1) * 4096,
						    .count = i + 1,
						    STACK(big_stack)};
		snaps[i] = (struct snapshot){
			.elapsed_ns = (i + 1) * 5000 * MS, .sites = sites[i], .site_cnt = 2};
	}
	page = print_history(&sink_html, snaps, REPORTS);
	assert_non_null(strstr(page, ", of 2 processes (w), grows "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_expected),
		cmocka_unit_test(names_are_no_markup),
		cmocka_unit_test(the_script_is_harmless),
		cmocka_unit_test(suspects_of_workers),
	};

	setenv("TZ", "TST-1", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
