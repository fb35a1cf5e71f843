// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests adding up histories that begin at different times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/history_join.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
#define POINTS 12

/* Makes a history that gains a block of 100 bytes per second and begins `from` seconds late. */
static struct site_history make(struct history_point *points, const struct history_point **pointers,
				size_t from)
{
	struct site_history ret = {
		.id = from + 1, .points = pointers, .point_cnt = POINTS - from, .seen = 10};

	ret.freed[3] = 1;
	for (size_t i = 0; i < ret.point_cnt; i++) {
		pointers[i] = &points[i];
		points[i] = (struct history_point){
			.elapsed_ns = (i + from) * NSEC_PER_SEC,
			.bytes = 100 * i,
			.count = i,
			.process_bytes = 5000,
			.held = {[SPAN_CNT] = (uint32_t)i},
		};
	}
	return ret;
}

static void sums(void **state)
{
	struct history_point points[3][POINTS];
	const struct history_point *pointers[3][POINTS];
	const struct site_history late = make(points[0], pointers[0], 4),
				  early = make(points[1], pointers[1], 0),
				  later = make(points[2], pointers[2], 6);
	const struct site_history *const parts[] = {&late, &early, &later};
	struct site_history sum;

	assert_int_equal(history_join(parts, 3, &sum), 0);
	assert_int_equal(sum.id, early.id);
	assert_int_equal(sum.point_cnt, POINTS);
	for (size_t i = 0; i < POINTS; i++) {
		size_t blocks = i + (i > 4 ? i - 4 : 0) + (i > 6 ? i - 6 : 0);

		assert_int_equal(sum.points[i]->elapsed_ns, i * NSEC_PER_SEC);
		assert_int_equal(sum.points[i]->count, blocks);
		assert_int_equal(sum.points[i]->bytes, 100 * blocks);
		assert_int_equal(sum.points[i]->held[SPAN_CNT], blocks);
		assert_int_equal(sum.points[i]->process_bytes, 5000);
	}
	assert_int_equal(sum.seen, 30);
	assert_int_equal(sum.freed[3], 3);
	assert_true(sum.trend.bytes_per_s > 100);
	free(sum.points);
}

/* A point of one part may be missing in another part: the state before it counts. */
static void missing_point(void **state)
{
	struct history_point points[2][POINTS];
	const struct history_point *pointers[2][POINTS];
	const struct site_history whole = make(points[0], pointers[0], 0);
	struct site_history thinned = make(points[1], pointers[1], 0), sum;

	for (size_t i = 5; i + 1 < POINTS; i++)
		points[1][i] = points[1][i + 1];
	thinned.point_cnt--;
	assert_int_equal(
		history_join((const struct site_history *const[]){&whole, &thinned}, 2, &sum), 0);
	assert_int_equal(sum.points[4]->count, 8);
	assert_int_equal(sum.points[5]->count, 9);
	assert_int_equal(sum.points[6]->count, 12);
	free(sum.points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(missing_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
