// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which suspect comes first if Python containers grow: the suspect that adds items to a
 * growing container may be moved to the front.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/keepers.h"

#define SECOND_NS 1000000000ULL

#define FUNCTION(name)                                                                             \
	{                                                                                          \
		.module = SYM_SCRIPT, .frame_cnt = 1, .frames = &(const struct sym_frame)          \
		{                                                                                  \
			.symbol = (name)                                                           \
		}                                                                                  \
	}

static const struct sym_location parse = FUNCTION("py::parse:/app.py"),
				 keep = FUNCTION("py::keep:/app.py");
static const struct sym_location *locations[] = {&parse, &keep};
static const uint64_t frames[] = {1};
static const struct site sites[] = {{.id = 7, .frames = frames, .frame_cnt = 1},
				    {.id = 8, .frames = frames, .frame_cnt = 1}};
static const struct report_site shown[] = {{.site = &sites[0], .locations = &locations[0]},
					   {.site = &sites[1], .locations = &locations[1]}};

/* The first suspect's site has allocated `blocks` + 9 blocks, of which 9 were freed. */
static void expect(enum python_allocator allocator, uint64_t site, uint64_t blocks,
		   double bytes_per_s, size_t first)
{
	const struct python_growth python = {
		.allocator = allocator,
		.container_cnt = 1,
		.containers = {{.more = 100, .for_ns = 10 * SECOND_NS, .site = site}}};
	struct suspect suspects[] = {{.site = &shown[0],
				      .seen = blocks + 9,
				      .freed = 9,
				      .bytes_per_s = bytes_per_s,
				      .since_ns = 20 * SECOND_NS},
				     {.site = &shown[1]}};

	keepers_prefer(&python, &shown[1], 1, suspects, 2);
	assert_ptr_equal(suspects[0].site, &shown[first]);
	assert_ptr_equal(suspects[1].site, &shown[!first]);
}

/*
 * Expects suspect `first` to come first if the line that adds items is known. keeper_cnt: 1 if the
 * block with the container's items is known, too, which is that of keep().
 */
static void expect_adder(const char *function, const char *file, size_t keeper_cnt, size_t first,
			 bool may_be_reused)
{
	struct python_growth python = {
		.allocator = PYTHON_ALLOCATOR_HEAP,
		.container_cnt = 1,
		.containers = {{.more = 100, .for_ns = 10 * SECOND_NS, .site = 8}}};
	struct suspect suspects[] = {{.site = &shown[0], .seen = 90, .since_ns = 20 * SECOND_NS},
				     {.site = &shown[1]}};

	python_text_copy(python.containers[0].adder.function, function, strlen(function));
	python_text_copy(python.containers[0].adder.file, file, strlen(file));
	keepers_prefer(&python, &shown[1], keeper_cnt, suspects, 2);
	assert_ptr_equal(suspects[0].site, &shown[first]);
	assert_int_equal(suspects[0].may_be_reused, may_be_reused);
	assert_false(suspects[1].may_be_reused);
}

/*
 * The function that adds items comes first. If it is not a suspect, the first suspect's blocks may
 * have been reused for the items.
 */
static void adders(void **state)
{
	expect_adder("keep", "/app.py", 0, 1, false);
	expect_adder("keep", "/app.py", 1, 1, false);
	expect_adder("parse", "/app.py", 1, 0, false);
	expect_adder("other", "/app.py", 1, 1, false);
	expect_adder("other", "/app.py", 0, 0, true);
	expect_adder("keep", "/other.py", 0, 0, true);
	expect_adder("", "", 1, 1, false);
	expect_adder("", "", 0, 0, true);
}

static void first_suspect(void **state)
{
	expect(PYTHON_ALLOCATOR_HEAP, 8, 1600, 80 * 256, 1);
	/*
	 * The site has more than 8 blocks for each item added to the container, so they cannot all
	 * be items.
	 */
	expect(PYTHON_ALLOCATOR_HEAP, 8, 1601, 80 * 256, 0);
	/* CPython reuses no such large blocks without a call of the allocator. */
	expect(PYTHON_ALLOCATOR_HEAP, 8, 1600, 80 * 256 + 1, 0);
	/* The site of the container's items is unknown. */
	expect(PYTHON_ALLOCATOR_HEAP, 0, 1600, 80 * 256, 0);
	/* Python's small objects are in pools, the sum of which is one suspect. */
	expect(PYTHON_ALLOCATOR_POOLS, 8, 1600, 80 * 256, 0);
	expect(PYTHON_ALLOCATOR_UNKNOWN, 8, 1600, 80 * 256, 0);
}

/* The site of the container's items is not among the suspects. */
static void no_suspect(void **state)
{
	const struct python_growth python = {
		.allocator = PYTHON_ALLOCATOR_HEAP,
		.container_cnt = 1,
		.containers = {{.more = 100, .for_ns = SECOND_NS, .site = 8}}};
	struct suspect suspect = {.site = &shown[0]};

	keepers_prefer(&python, &shown[1], 1, &suspect, 1);
	assert_ptr_equal(suspect.site, &shown[0]);
	keepers_prefer(&python, &shown[1], 1, NULL, 0);
	keepers_prefer(NULL, NULL, 0, &suspect, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(first_suspect),
					   cmocka_unit_test(adders), cmocka_unit_test(no_suspect)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
