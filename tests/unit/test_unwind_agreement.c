// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing two walks of a stack, and what is said of it: a wrong frame must be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "loader/unwind_verdicts.h"
#include "symbolizer/proc_maps.h"
#include "unwinder/reference_stack.h"

static const uint64_t walked[] = {0x401010, 0x401020, 0x402030, 0x7f0000001040, 0x401050};
#define WALKED_CNT 5

static const char maps_text[] =
	"00401000-00404000 r-xp 00001000 08:01 77 /bin/program\n"
	"7f0000000000-7f0000010000 r-xp 00002000 08:01 78 /lib/library.so\n";

static struct reference_stack reference_of(size_t cnt, enum reference_end end)
{
	struct reference_stack reference = {.cnt = cnt, .end = end};

	memcpy(reference.frames, walked, WALKED_CNT * sizeof(*walked));
	for (size_t i = WALKED_CNT; i < cnt; i++)
		reference.frames[i] = 0x403000 + i;
	return reference;
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
	struct reference_stack reference = reference_of(WALKED_CNT, REFERENCE_FINISHED);

	assert_found(agreement_find(walked, WALKED_CNT, UNWIND_END_COMPLETE, &reference),
		     AGREEMENT_SAME, 4, 4);
}

/* Whichever frame it is, how ever the walks end. */
static void falsified_frame(void **state)
{
	for (size_t at = 1; at < WALKED_CNT; at++) {
		for (int end = 0; end < REFERENCE_END_CNT; end++) {
			struct reference_stack reference =
				reference_of(WALKED_CNT, (enum reference_end)end);

			reference.frames[at]++;
			assert_found(
				agreement_find(walked, WALKED_CNT, UNWIND_END_COMPLETE, &reference),
				AGREEMENT_DIFFERS, at, at - 1);
			assert_found(
				agreement_find(walked, WALKED_CNT, UNWIND_END_READ, &reference),
				AGREEMENT_DIFFERS, at, at - 1);
		}
	}
}

struct ends {
	size_t walked_cnt;
	enum unwind_end walked_end;
	size_t reference_cnt;
	enum reference_end reference_end;
	enum agreement_verdict verdict;
};

/* All frames that both have are equal. */
static void ends_compared(void **state)
{
	static const struct ends ends[] = {
		/* One says that this was all, the other has more. */
		{4, UNWIND_END_COMPLETE, 5, REFERENCE_FINISHED, AGREEMENT_DIFFERS},
		{4, UNWIND_END_COMPLETE, 5, REFERENCE_FAILED, AGREEMENT_DIFFERS},
		{4, UNWIND_END_COMPLETE, 5, REFERENCE_BEYOND, AGREEMENT_DIFFERS},
		{5, UNWIND_END_COMPLETE, 4, REFERENCE_FINISHED, AGREEMENT_DIFFERS},
		{5, UNWIND_END_NO_CODE, 4, REFERENCE_FINISHED, AGREEMENT_DIFFERS},
		{5, UNWIND_END_TRUNCATED, 4, REFERENCE_FINISHED, AGREEMENT_DIFFERS},
		/* One found no way on. */
		{5, UNWIND_END_COMPLETE, 5, REFERENCE_FAILED, AGREEMENT_ONLY_WALK},
		{5, UNWIND_END_COMPLETE, 3, REFERENCE_FAILED, AGREEMENT_ONLY_WALK},
		{5, UNWIND_END_TRUNCATED, 3, REFERENCE_FAILED, AGREEMENT_ONLY_WALK},
		{3, UNWIND_END_NO_CODE, 5, REFERENCE_FINISHED, AGREEMENT_ONLY_REFERENCE},
		{3, UNWIND_END_NO_RULE, 5, REFERENCE_FINISHED, AGREEMENT_ONLY_REFERENCE},
		{5, UNWIND_END_READ, 5, REFERENCE_FINISHED, AGREEMENT_ONLY_REFERENCE},
		{3, UNWIND_END_READ, 5, REFERENCE_BEYOND, AGREEMENT_ONLY_REFERENCE},
		{3, UNWIND_END_NO_CODE, 4, REFERENCE_FAILED, AGREEMENT_NEITHER},
		{4, UNWIND_END_NO_CODE, 3, REFERENCE_FAILED, AGREEMENT_NEITHER},
		/* More frames than are kept. */
		{4, UNWIND_END_TRUNCATED, 5, REFERENCE_FINISHED, AGREEMENT_SAME},
		{4, UNWIND_END_TRUNCATED, 5, REFERENCE_FAILED, AGREEMENT_SAME},
		{4, UNWIND_END_TRUNCATED, 5, REFERENCE_LIMIT, AGREEMENT_SAME},
		/* The copy was too small. */
		{5, UNWIND_END_COMPLETE, 3, REFERENCE_BEYOND, AGREEMENT_BEYOND},
		{5, UNWIND_END_TRUNCATED, 3, REFERENCE_BEYOND, AGREEMENT_BEYOND},
		{5, UNWIND_END_NO_CODE, 3, REFERENCE_BEYOND, AGREEMENT_BEYOND},
		/* libdwfl found nothing at all. */
		{5, UNWIND_END_COMPLETE, 0, REFERENCE_FAILED, AGREEMENT_ONLY_WALK},
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct reference_stack reference =
			reference_of(ends[i].reference_cnt, ends[i].reference_end);
		struct agreement found =
			agreement_find(walked, ends[i].walked_cnt, ends[i].walked_end, &reference);

		if (found.verdict != ends[i].verdict)
			fail_msg("row %zu: %d, not %d", i, found.verdict, ends[i].verdict);
	}
}

static void add(struct unwind_verdicts *verdicts, const struct reference_stack *reference,
		enum unwind_end end)
{
	struct agreement found = agreement_find(walked, WALKED_CNT, end, reference);
	struct proc_maps maps;

	assert_int_equal(proc_maps_parse(maps_text, strlen(maps_text), &maps), 0);
	unwind_verdicts_add(verdicts, &maps, walked, WALKED_CNT, reference, &found);
	proc_maps_deinit(&maps);
}

static void assert_text(const struct unwind_verdicts *verdicts, const char *want)
{
	char *text = unwind_verdicts_text(verdicts);

	assert_string_equal(text, want);
	free(text);
}

/* The difference is in the line, and where it began. */
static void difference_said(void **state)
{
	struct reference_stack reference = reference_of(WALKED_CNT, REFERENCE_FINISHED);
	struct unwind_verdicts verdicts = {0};

	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	assert_int_equal(verdicts.place_cnt, 0);
	assert_text(&verdicts, "unwinding verified: 1 stacks, 4 frames compared, 0 differ; "
			       "0 stacks that libdwfl finished and memleak did not; "
			       "0 that memleak finished and libdwfl did not");
	reference.frames[3]++;
	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	reference.frames[3] += 0x10;
	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	assert_text(&verdicts, "unwinding verified: 3 stacks, 10 frames compared, 2 differ; "
			       "0 stacks that libdwfl finished and memleak did not; "
			       "0 that memleak finished and libdwfl did not");
	assert_int_equal(verdicts.place_cnt, 1);
	assert_int_equal(verdicts.places[0].verdict, AGREEMENT_DIFFERS);
	assert_int_equal(verdicts.places[0].stack_cnt, 2);
	assert_string_equal(verdicts.places[0].file, "/bin/program");
	assert_string_equal(verdicts.places[0].from, "/bin/program+0x2030");
	assert_string_equal(verdicts.places[0].memleak, "/lib/library.so+0x3040");
	assert_string_equal(verdicts.places[0].libdwfl, "/lib/library.so+0x3041");
	unwind_verdicts_deinit(&verdicts);
}

static void ends_said(void **state)
{
	struct reference_stack reference = reference_of(WALKED_CNT, REFERENCE_FINISHED);
	struct unwind_verdicts verdicts = {.unknown_cnt = 7};

	add(&verdicts, &reference, UNWIND_END_NO_CODE);
	reference.end = REFERENCE_FAILED;
	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	add(&verdicts, &reference, UNWIND_END_READ);
	reference.end = REFERENCE_BEYOND;
	add(&verdicts, &reference, UNWIND_END_COMPLETE);
	assert_text(&verdicts, "unwinding verified: 5 stacks, 20 frames compared, 0 differ; "
			       "1 stacks that libdwfl finished and memleak did not; "
			       "2 that memleak finished and libdwfl did not; "
			       "1 that neither finished; "
			       "1 that go beyond the memory that was copied; "
			       "7 not compared, of code that was not known");
	unwind_verdicts_deinit(&verdicts);
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
