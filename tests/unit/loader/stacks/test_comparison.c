// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests comparing two walks of a stack, and the text about the result. A difference in any frame
 * must be found.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_maps.h"
#include "loader/stacks/comparison.h"
#include "unwinder/server/walker_stack.h"

static const uint64_t walked[] = {0x401010, 0x401020, 0x402030, 0x7f0000001040, 0x401050};
#define WALKED_CNT 5

static const char maps_text[] =
	"00401000-00404000 r-xp 00001000 08:01 77 /bin/program\n"
	"7f0000000000-7f0000010000 r-xp 00002000 08:01 78 /lib/library.so\n";

static struct walker_stack walker_of(size_t cnt, enum walker_end end)
{
	struct walker_stack walker = {.cnt = cnt, .end = end};

	memcpy(walker.frames, walked, WALKED_CNT * sizeof(*walked));
	for (size_t i = WALKED_CNT; i < cnt; i++)
		walker.frames[i] = 0x403000 + i;
	return walker;
}

static void assert_found(struct agreement found, enum agreement_verdict verdict, size_t compared,
			 size_t last)
{
	assert_int_equal(found.verdict, verdict);
	assert_int_equal(found.compared, compared);
	assert_int_equal(found.last, last);
}

static void equal_stacks(void **state)
{
	struct walker_stack walker = walker_of(WALKED_CNT, WALKER_FINISHED);

	assert_found(agreement_find(walked, WALKED_CNT, UNWIND_END_COMPLETE, &walker),
		     AGREEMENT_SAME, 4, 4);
}

/* A wrong frame is found at any depth, however the walk ended. */
static void falsified_frame(void **state)
{
	for (size_t at = 1; at < WALKED_CNT; at++) {
		for (int end = 0; end < WALKER_END_CNT; end++) {
			struct walker_stack walker = walker_of(WALKED_CNT, (enum walker_end)end);

			walker.frames[at]++;
			assert_found(
				agreement_find(walked, WALKED_CNT, UNWIND_END_COMPLETE, &walker),
				AGREEMENT_DIFFERS, at, at - 1);
			assert_found(agreement_find(walked, WALKED_CNT, UNWIND_END_READ, &walker),
				     AGREEMENT_DIFFERS, at, at - 1);
		}
	}
}

struct ends {
	size_t walked_cnt;
	enum unwind_end walked_end;
	size_t walker_cnt;
	enum walker_end walker_end;
	enum agreement_verdict verdict;
};

/* All frames that both walks have are equal, so the result depends only on how the walks ended. */
static void ends_compared(void **state)
{
	static const struct ends ends[] = {
		/* One walk claims to be complete, but the other walk found more frames. */
		{4, UNWIND_END_COMPLETE, 5, WALKER_FINISHED, AGREEMENT_DIFFERS},
		{4, UNWIND_END_COMPLETE, 5, WALKER_FAILED, AGREEMENT_DIFFERS},
		{4, UNWIND_END_COMPLETE, 5, WALKER_BEYOND, AGREEMENT_DIFFERS},
		{5, UNWIND_END_COMPLETE, 4, WALKER_FINISHED, AGREEMENT_DIFFERS},
		{5, UNWIND_END_NO_CODE, 4, WALKER_FINISHED, AGREEMENT_DIFFERS},
		{5, UNWIND_END_TRUNCATED, 4, WALKER_FINISHED, AGREEMENT_DIFFERS},
		/* At least one walk failed: the result says which of the walks finished. */
		{5, UNWIND_END_COMPLETE, 5, WALKER_FAILED, AGREEMENT_ONLY_WALK},
		{5, UNWIND_END_COMPLETE, 3, WALKER_FAILED, AGREEMENT_ONLY_WALK},
		{5, UNWIND_END_TRUNCATED, 3, WALKER_FAILED, AGREEMENT_ONLY_WALK},
		{3, UNWIND_END_NO_CODE, 5, WALKER_FINISHED, AGREEMENT_ONLY_WALKER},
		{3, UNWIND_END_NO_RULE, 5, WALKER_FINISHED, AGREEMENT_ONLY_WALKER},
		{5, UNWIND_END_READ, 5, WALKER_FINISHED, AGREEMENT_ONLY_WALKER},
		{3, UNWIND_END_READ, 5, WALKER_BEYOND, AGREEMENT_ONLY_WALKER},
		{3, UNWIND_END_NO_CODE, 4, WALKER_FAILED, AGREEMENT_NEITHER},
		{4, UNWIND_END_NO_CODE, 3, WALKER_FAILED, AGREEMENT_NEITHER},
		/* Truncation at the maximum depth is not a difference. */
		{4, UNWIND_END_TRUNCATED, 5, WALKER_FINISHED, AGREEMENT_SAME},
		{4, UNWIND_END_TRUNCATED, 5, WALKER_FAILED, AGREEMENT_SAME},
		{4, UNWIND_END_TRUNCATED, 5, WALKER_LIMIT, AGREEMENT_SAME},
		/* libdwfl's walk reached the end of the copied part. */
		{5, UNWIND_END_COMPLETE, 3, WALKER_BEYOND, AGREEMENT_BEYOND},
		{5, UNWIND_END_TRUNCATED, 3, WALKER_BEYOND, AGREEMENT_BEYOND},
		{5, UNWIND_END_NO_CODE, 3, WALKER_BEYOND, AGREEMENT_BEYOND},
		/* libdwfl found no frames. */
		{5, UNWIND_END_COMPLETE, 0, WALKER_FAILED, AGREEMENT_ONLY_WALK},
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct walker_stack walker = walker_of(ends[i].walker_cnt, ends[i].walker_end);
		struct agreement found =
			agreement_find(walked, ends[i].walked_cnt, ends[i].walked_end, &walker);

		if (found.verdict != ends[i].verdict)
			fail_msg("row %zu: %d, not %d", i, found.verdict, ends[i].verdict);
	}
}

static void add(struct comparison *comparison, const struct walker_stack *walker,
		enum unwind_end end)
{
	struct agreement found = agreement_find(walked, WALKED_CNT, end, walker);
	struct proc_maps maps;

	assert_int_equal(proc_maps_parse(maps_text, strlen(maps_text), &maps), 0);
	comparison_add(comparison, &maps, walked, WALKED_CNT, walker, &found);
	proc_maps_deinit(&maps);
}

static void assert_text(const struct comparison *comparison, const char *want)
{
	char *text = comparison_text(comparison);

	assert_string_equal(text, want);
	free(text);
}

/* The text has the number of wrong frames, and the frame from which on the walks differ. */
static void difference_said(void **state)
{
	struct walker_stack walker = walker_of(WALKED_CNT, WALKER_FINISHED);
	struct comparison comparison = {0};

	add(&comparison, &walker, UNWIND_END_COMPLETE);
	assert_int_equal(comparison.place_cnt, 0);
	assert_text(&comparison, "unwinding verified: 1 stacks, 4 frames compared, 0 differ; "
				 "0 stacks that libdwfl finished and memleak did not; "
				 "0 that memleak finished and libdwfl did not");
	walker.frames[3]++;
	add(&comparison, &walker, UNWIND_END_COMPLETE);
	walker.frames[3] += 0x10;
	add(&comparison, &walker, UNWIND_END_COMPLETE);
	assert_text(&comparison, "unwinding verified: 3 stacks, 10 frames compared, 2 differ; "
				 "0 stacks that libdwfl finished and memleak did not; "
				 "0 that memleak finished and libdwfl did not");
	assert_int_equal(comparison.place_cnt, 1);
	assert_int_equal(comparison.places[0].verdict, AGREEMENT_DIFFERS);
	assert_int_equal(comparison.places[0].stack_cnt, 2);
	assert_string_equal(comparison.places[0].file, "/bin/program");
	assert_string_equal(comparison.places[0].from, "/bin/program+0x2030");
	assert_string_equal(comparison.places[0].memleak, "/lib/library.so+0x3040");
	assert_string_equal(comparison.places[0].libdwfl, "/lib/library.so+0x3041");
	comparison_deinit(&comparison);
}

static void ends_said(void **state)
{
	struct walker_stack walker = walker_of(WALKED_CNT, WALKER_FINISHED);
	struct comparison comparison = {.unknown_cnt = 7};

	add(&comparison, &walker, UNWIND_END_NO_CODE);
	walker.end = WALKER_FAILED;
	add(&comparison, &walker, UNWIND_END_COMPLETE);
	add(&comparison, &walker, UNWIND_END_COMPLETE);
	add(&comparison, &walker, UNWIND_END_READ);
	walker.end = WALKER_BEYOND;
	add(&comparison, &walker, UNWIND_END_COMPLETE);
	assert_text(&comparison, "unwinding verified: 5 stacks, 20 frames compared, 0 differ; "
				 "1 stacks that libdwfl finished and memleak did not; "
				 "2 that memleak finished and libdwfl did not; "
				 "1 that neither finished; "
				 "1 that go beyond the memory that was copied; "
				 "7 not compared: unknown code");
	comparison_deinit(&comparison);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks),  cmocka_unit_test(falsified_frame),
		cmocka_unit_test(ends_compared), cmocka_unit_test(difference_said),
		cmocka_unit_test(ends_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
