// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps one sum for each pair of sites. */
#include "proof/hanging_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

int hanging_sums_add(struct hanging_sums *sums, uint32_t head, uint32_t site, uint64_t bytes)
{
	uint64_t key = (uint64_t)head << 32 | site;
	uintptr_t place = (uintptr_t)hash_map_get(&sums->places, key);

	/*
	 * Skip a block that hangs from a block of its own site: a sum for such blocks would say
	 * nothing new.
	 */
	if (head == site)
		return 0;
	if (!place) {
		if (array_reserve(&sums->items, &sums->cap, sums->cnt + 1) ||
		    hash_map_set(&sums->places, key, (void *)(uintptr_t)(sums->cnt + 1)))
			return -ENOMEM;
		sums->items[sums->cnt] = (struct hanging_sum){.head = head, .site = site};
		place = ++sums->cnt;
	}
	sums->items[place - 1].of.bytes += bytes;
	sums->items[place - 1].of.count++;
	return 0;
}

static int by_site(const void *left, const void *right)
{
	const struct hanging_sum *a = left, *b = right;

	return ORDER(a->site, b->site) ?: ORDER(a->head, b->head);
}

int hanging_sums_fill(const struct hanging_sums *sums, struct snapshot *snap)
{
	struct hanging_sum *items =
		arena_copy(&snap->arena, sums->items, sums->cnt * sizeof(*sums->items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < sums->cnt; i++) {
		items[i].head = snap->sites[items[i].head].id;
		items[i].site = snap->sites[items[i].site].id;
	}
	qsort(items, sums->cnt, sizeof(*items), by_site);
	snap->hanging = items;
	snap->hanging_cnt = sums->cnt;
	return 0;
}

void hanging_sums_deinit(struct hanging_sums *sums)
{
	free(sums->items);
	hash_map_deinit(&sums->places);
	memset(sums, 0, sizeof(*sums));
}
