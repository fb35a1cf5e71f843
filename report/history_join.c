// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up the points of histories. The histories may have different points, as sites appear at
 * different times: the sum has the points of the history that begins first.
 */
#include "report/history_join.h"

#include <errno.h>
#include <stdlib.h>

void joined_histories_deinit(struct joined_histories *joined)
{
	for (size_t i = 0; i < joined->cnt; i++)
		free(joined->items[i].points);
	free(joined->items);
	*joined = (struct joined_histories){0};
}

static const struct site_history *first_of(const struct site_history *const *parts, size_t cnt)
{
	const struct site_history *ret = parts[0];

	for (size_t i = 1; i < cnt; i++)
		if (parts[i]->point_cnt && (!ret->point_cnt || parts[i]->points[0]->elapsed_ns <
								       ret->points[0]->elapsed_ns))
			ret = parts[i];
	return ret;
}

static void add_point(struct history_point *sum, const struct history_point *point)
{
	sum->bytes += point->bytes;
	sum->count += point->count;
	for (size_t i = 0; i <= SPAN_CNT; i++) {
		sum->held_bytes[i] += point->held_bytes[i];
		sum->held[i] += point->held[i];
		sum->freed[i] += point->freed[i];
	}
}

/* Adds to each point of a sum the state that the part had at that time. */
static void add_part(struct history_point *sums, size_t cnt, const struct site_history *part)
{
	size_t at = 0;

	for (size_t i = 0; i < cnt; i++) {
		while (at < part->point_cnt && part->points[at]->elapsed_ns <= sums[i].elapsed_ns)
			at++;
		if (at)
			add_point(&sums[i], part->points[at - 1]);
	}
}

int history_join(const struct site_history *const *parts, size_t cnt, struct site_history *ret)
{
	const struct site_history *first = first_of(parts, cnt);
	struct site_history sum = {.id = first->id, .point_cnt = first->point_cnt};
	struct history_point *sums;

	/* The points themselves follow the pointers to them. */
	sum.point_cap = sum.point_cnt + 1;
	sum.points = calloc(sum.point_cap, sizeof(*sum.points) + sizeof(*sums));
	if (!sum.points)
		return -ENOMEM;
	sums = (struct history_point *)(sum.points + sum.point_cap);
	for (size_t i = 0; i < sum.point_cnt; i++) {
		sums[i] = *first->points[i];
		sum.points[i] = &sums[i];
	}
	for (size_t i = 0; i < cnt; i++) {
		sum.seen += parts[i]->seen;
		for (size_t j = 0; j < AGE_CLASS_CNT; j++)
			sum.freed[j] += parts[i]->freed[j];
		if (parts[i] != first)
			add_part(sums, sum.point_cnt, parts[i]);
	}
	trend_of(&sum, &sum.trend);
	*ret = sum;
	return 0;
}
