// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares sites by size, number of blocks, growth, leak score or pinned memory. Two sites never
 * compare equal.
 */
#include "report/site_order.h"

#include <errno.h>
#include <stdlib.h>

#include "base/order.h"

static double score_of(const struct candidate *candidate)
{
	const struct site_history *history = candidate->growth.history;

	return history ? history->trend.score.total : 0;
}

bool site_is_doubtful(const struct site *site)
{
	return site->origin.reclaimable || site->origin.unseen_frees > site->count / 2;
}

bool site_is_suspect(const struct site *site, const struct site_history *history)
{
	return trend_is_suspect(&history->trend) && !site_is_doubtful(site);
}

bool candidate_is_suspect(const struct candidate *candidate)
{
	return candidate->growth.history &&
	       site_is_suspect(candidate->site, candidate->growth.history);
}

double candidate_bytes_per_s(const struct candidate *candidate)
{
	return (1 - candidate->blamed_inside) * candidate->growth.history->trend.bytes_per_s;
}

/* Returns a site's weight: its growth in bytes per second times its leak score. */
static double weight_of(const struct candidate *candidate)
{
	return score_of(candidate) * candidate_bytes_per_s(candidate);
}

/* Compares sizes, then numbers of blocks, the largest first; then ids, the lowest first. */
static int by_size(const struct candidate *a, const struct candidate *b)
{
	return ORDER(b->site->bytes, a->site->bytes) ?: ORDER(b->site->count, a->site->count)
							?: ORDER(a->site->id, b->site->id);
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	const enum sort_order *order = arg;
	int diff = ORDER(a->site->origin.reclaimable, b->site->origin.reclaimable);

	if (!diff && *order == SORT_SCORE)
		diff = ORDER(score_of(b), score_of(a));
	if (!diff && *order == SORT_PINNED)
		diff = ORDER(b->site->pinned_bytes, a->site->pinned_bytes);
	if (!diff && *order == SORT_COUNT)
		diff = ORDER(b->site->count, a->site->count);
	if (!diff && (*order == SORT_GROWTH || *order == SORT_SCORE))
		diff = ORDER(b->growth.bytes, a->growth.bytes);
	if (!diff && *order == SORT_GROWTH)
		diff = ORDER(b->growth.count, a->growth.count);
	return diff ?: by_size(a, b);
}

static int by_weight(const void *left, const void *right)
{
	return ORDER(weight_of(right), weight_of(left)) ?: by_size(left, right);
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
			candidates[ranked++] =
				(struct candidate){.site = &sites[i], .growth = growth[i]};
	qsort_r(candidates, ranked, sizeof(*candidates), compare, &order);
	*ret_cnt = ranked;
	*ret = candidates;
	return 0;
}

static int choose(const struct candidate *candidates, size_t cnt,
		  bool (*is_wanted)(const struct candidate *candidate),
		  int (*compare_two)(const void *left, const void *right), size_t *ret_cnt,
		  struct candidate **ret)
{
	struct candidate *chosen;
	size_t found = 0;

	for (size_t i = 0; i < cnt; i++)
		found += is_wanted(&candidates[i]);
	chosen = calloc(found + 1, sizeof(*chosen));
	if (!chosen)
		return -ENOMEM;
	*ret_cnt = found;
	*ret = chosen;
	for (size_t i = 0; i < cnt; i++)
		if (is_wanted(&candidates[i]))
			*chosen++ = candidates[i];
	qsort(*ret, found, sizeof(**ret), compare_two);
	return 0;
}

int site_order_suspects(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			struct candidate **ret)
{
	return choose(candidates, cnt, candidate_is_suspect, by_weight, ret_cnt, ret);
}

static bool is_companion(const struct candidate *candidate)
{
	return candidate->growth.history && site_is_doubtful(candidate->site) &&
	       trend_is_suspect(&candidate->growth.history->trend);
}

int site_order_companions(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
			  struct candidate **ret)
{
	return choose(candidates, cnt, is_companion, by_weight, ret_cnt, ret);
}

static bool is_loss(const struct candidate *candidate)
{
	return candidate->site->reach.lost.count;
}

static uint64_t loss_bytes(const struct candidate *candidate)
{
	return candidate->site->reach.lost.bytes + candidate->site->reach.hanging.bytes;
}

static int by_loss(const void *left, const void *right)
{
	return ORDER(loss_bytes(right), loss_bytes(left)) ?: by_size(left, right);
}

int site_order_losses(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		      struct candidate **ret)
{
	return choose(candidates, cnt, is_loss, by_loss, ret_cnt, ret);
}

static bool is_pinner(const struct candidate *candidate)
{
	return candidate->site->pinned_bytes;
}

static int by_pinned(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return ORDER(b->site->pinned_bytes, a->site->pinned_bytes) ?: by_size(a, b);
}

int site_order_pinners(const struct candidate *candidates, size_t cnt, size_t *ret_cnt,
		       struct candidate **ret)
{
	return choose(candidates, cnt, is_pinner, by_pinned, ret_cnt, ret);
}
