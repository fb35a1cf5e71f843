// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests recognising wrappers from stacks alone: a function with many callers and many sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/funnels.h"
#include "report/shared_frames.h"

#define SITES 32
#define DEEP 4

static const struct process one = {1, 1, "one", NULL}, other = {2, 2, "other", NULL};

struct made {
	struct site sites[SITES];
	struct candidate candidates[SITES];
	uint64_t frames[SITES][DEEP];
	struct site_history histories[SITES];
	size_t cnt;
};

static void add(struct made *made, const struct process *process, uint64_t size, uint64_t innermost,
		uint64_t next, uint64_t outer)
{
	const uint64_t frames[DEEP] = {innermost, next, outer, 1};
	size_t i = made->cnt++;

	for (size_t j = 0; j < DEEP; j++)
		made->frames[i][j] = frames[j];
	made->sites[i] = (struct site){.id = i,
				       .process = process,
				       .bytes = 3 * size,
				       .count = 3,
				       .frames = made->frames[i],
				       .frame_cnt = DEEP};
	made->candidates[i].site = &made->sites[i];
}

static void expect(struct made *made, size_t first, size_t end, size_t frame_cnt)
{
	const struct candidate **sorted;
	struct funnels funnels;
	size_t cnt;

	assert_int_equal(shared_frames_sort(made->candidates, made->cnt, &cnt, &sorted), 0);
	assert_int_equal(funnels_init(sorted, cnt, NULL, &funnels), 0);
	for (size_t i = first; i < end; i++)
		assert_int_equal(funnels_frame_cnt(&funnels, &made->sites[i]), frame_cnt);
	funnels_deinit(&funnels);
	free(sorted);
}

static void wrapper(void **state)
{
	struct made made = {0};

	for (uint64_t i = 0; i < 8; i++)
		add(&made, &one, 16 * (i % 4), 0xa, 0x100 + i, 0x1000);
	add(&made, &one, 7, 0xb, 0x100, 0x1000);
	expect(&made, 0, 8, 1);
	expect(&made, 8, 9, 0);
}

static void wrapper_of_wrapper(void **state)
{
	struct made made = {0};

	for (uint64_t i = 0; i < 8; i++)
		add(&made, &one, 16 * i, 0xa, 0xb, 0x1000 + i);
	expect(&made, 0, 8, 2);
}

static void few_callers_or_sizes(void **state)
{
	struct made made = {0};

	for (uint64_t i = 0; i < 16; i++)
		add(&made, &one, i, 0xa, 0x100 + i % 7, 0x1000 + i % 2);
	expect(&made, 0, 16, 0);
	made.cnt = 0;
	for (uint64_t i = 0; i < 16; i++)
		add(&made, &one, i % 3, 0xa, 0x100 + i, 0x1000);
	expect(&made, 0, 16, 0);
}

static void two_processes(void **state)
{
	struct made made = {0};

	for (uint64_t i = 0; i < 8; i++)
		add(&made, i < 4 ? &one : &other, i, 0xa, 0x100 + i, 0x1000);
	expect(&made, 0, 8, 0);
}

/*
 * If most callers of a function grow, it is no wrapper: it keeps the memory itself, like a cache
 * that is never emptied.
 */
static void who_keeps_it(void **state)
{
	struct made made = {0};

	for (uint64_t i = 0; i < 10; i++) {
		add(&made, &one, i, 0xa, 0x100 + i, 0x1000);
		made.histories[i].trend =
			(struct trend){.tendency = TENDENCY_STEADY, .score.total = 0.9};
		made.candidates[i].growth.history = &made.histories[i];
	}
	expect(&made, 0, 10, 0);
	for (uint64_t i = 0; i < 8; i++)
		made.histories[i].trend.tendency = TENDENCY_FLAT;
	expect(&made, 0, 10, 1);
}

static void nothing(void **state)
{
	struct made made = {0};

	expect(&made, 0, 0, 0);
	add(&made, &one, 1, 1, 1, 1);
	made.sites[0].frame_cnt = 0;
	expect(&made, 0, 1, 0);
	made.sites[0].frame_cnt = 1;
	expect(&made, 0, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrapper),
		cmocka_unit_test(wrapper_of_wrapper),
		cmocka_unit_test(few_callers_or_sizes),
		cmocka_unit_test(two_processes),
		cmocka_unit_test(who_keeps_it),
		cmocka_unit_test(nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
