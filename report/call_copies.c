// SPDX-License-Identifier: GPL-2.0-or-later
/* Sorts calls by key and joins the histories of adjacent calls. */
#include "report/call_copies.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/order.h"

struct keyed {
	uint64_t key;
	uint32_t sum;
};

static int by_key(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	return ORDER(a->key, b->key) ?: ORDER(a->sum, b->sum);
}

/* Gives the first of `cnt` copies the history of all. */
static int join(struct callers *callers, const struct keyed *copies, size_t cnt, uint32_t *first,
		struct site_history *ret)
{
	cleanup_free const struct site_history **parts = calloc(cnt, sizeof(*parts));
	int err;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		parts[i] = callers->growth[copies[i].sum].history;
	err = history_join(parts, cnt, ret);
	if (err)
		return err;
	callers->growth[copies->sum].history = ret;
	for (size_t i = 0; i < cnt; i++)
		first[copies[i].sum] = copies->sum + 1;
	return 0;
}

int call_copies_join(struct callers *callers, const uint64_t *keys, uint32_t *first,
		     struct joined_histories *ret)
{
	cleanup_free struct keyed *copies = calloc(callers->cnt + 1, sizeof(*copies));
	struct joined_histories joined = {.items = calloc(callers->cnt + 1, sizeof(*joined.items))};
	int err = copies && joined.items ? 0 : -ENOMEM;
	size_t cnt = 0;

	for (uint32_t i = 0; !err && i < callers->cnt; i++) {
		first[i] = i + 1;
		if (keys[i])
			copies[cnt++] = (struct keyed){keys[i], i};
	}
	if (!err)
		qsort(copies, cnt, sizeof(*copies), by_key);
	for (size_t i = 0, end; !err && i < cnt; i = end) {
		for (end = i; end < cnt && copies[end].key == copies[i].key;)
			end++;
		if (end - i == 1)
			continue;
		err = join(callers, copies + i, end - i, first, &joined.items[joined.cnt]);
		joined.cnt += !err;
	}
	if (err)
		joined_histories_deinit(&joined);
	else
		*ret = joined;
	return err;
}
