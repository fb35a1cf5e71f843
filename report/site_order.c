// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares sites: by size, number of blocks, growth or leak score. No two are equal. */
#include "report/site_order.h"

#include <errno.h>
#include <stdlib.h>

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_signed(int64_t a, int64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_real(double a, double b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static double score_of(const struct candidate *candidate)
{
	const struct site_history *history = candidate->growth.history;

	return history ? history->trend.score.total : 0;
}

static bool is_suspect(const struct candidate *candidate)
{
	return candidate->growth.history && trend_is_suspect(&candidate->growth.history->trend);
}

/* How many bytes a second it leaks, times how sure that is. */
static double weight_of(const struct candidate *candidate)
{
	return score_of(candidate) * candidate->growth.history->trend.bytes_per_s;
}

/* Largest first; the last resort, the id, is the smallest first. */
static int by_size(const struct candidate *a, const struct candidate *b)
{
	int diff = by_number(a->site->bytes, b->site->bytes);

	if (!diff)
		diff = by_number(a->site->count, b->site->count);
	return diff ? diff : by_number(b->site->id, a->site->id);
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	const enum sort_order *order = arg;
	int diff = 0;

	if (*order == SORT_SCORE)
		diff = by_real(score_of(a), score_of(b));
	if (*order == SORT_COUNT)
		diff = by_number(a->site->count, b->site->count);
	if (!diff && (*order == SORT_GROWTH || *order == SORT_SCORE))
		diff = by_signed(a->growth.bytes, b->growth.bytes);
	if (!diff && *order == SORT_GROWTH)
		diff = by_signed(a->growth.count, b->growth.count);
	return diff ? diff : by_size(a, b);
}

static int by_weight(const void *left, const void *right)
{
	int diff = by_real(weight_of(left), weight_of(right));

	return diff ? diff : by_size(left, right);
}

int site_order_init(const struct site *sites, const struct growth *growth, size_t cnt,
		    enum sort_order order, size_t *ret_cnt, struct candidate **ret)
{
	struct candidate *candidates = calloc(cnt + 1, sizeof(*candidates));
	size_t ranked = 0;

	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		if (sites[i].count)
			candidates[ranked++] = (struct candidate){&sites[i], growth[i]};
	qsort_r(candidates, ranked, sizeof(*candidates), compare, &order);
	*ret_cnt = ranked;
	*ret = candidates;
	return 0;
}

int site_order_suspects(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			struct candidate **ret)
{
	struct candidate *suspects;
	size_t found = 0;

	for (size_t i = 0; i < cnt; i++)
		found += is_suspect(&candidates[i]);
	suspects = calloc(found + 1, sizeof(*suspects));
	if (!suspects)
		return -ENOMEM;
	*ret_cnt = found;
	*ret = suspects;
	for (size_t i = 0; i < cnt; i++)
		if (is_suspect(&candidates[i]))
			*suspects++ = candidates[i];
	qsort(*ret, found, sizeof(**ret), by_weight);
	return 0;
}
