// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists and adds up the resident memory of processes. */
#include "report/processes_rss.h"

#include <stdlib.h>

#include "base/order.h"

static int by_size(const void *left, const void *right)
{
	const struct process_rss *a = left, *b = right;

	return ORDER(rss_total(b->rss), rss_total(a->rss))
		       ?: ORDER(a->process->pid, b->process->pid);
}

const struct rss *processes_rss_first(const struct rss_pasts *pasts, const struct process *process)
{
	const struct rss_past *past = pasts ? rss_pasts_find(pasts, process->image) : NULL;

	return past && past->cnt > 1 ? &past->first : NULL;
}

const struct rss *processes_rss_only_first(const struct snapshot *snap,
					   const struct rss_pasts *pasts)
{
	const struct rss *first = NULL;

	if (snapshot_living(snap) != 1)
		return NULL;
	for (size_t i = 0; i < snap->tally_cnt && !first; i++)
		if (process_tally_is_living(&snap->tallies[i]))
			first = processes_rss_first(pasts, snap->tallies[i].process);
	return first;
}

struct processes_rss processes_rss_of(const struct snapshot *snap, const struct rss_pasts *pasts)
{
	struct processes_rss all = {.living = snapshot_living(snap)};

	if (all.living < 2)
		return all;
	for (size_t i = 0; i < snap->tally_cnt && all.cnt < RSS_PROCESSES_MAX; i++) {
		const struct process_tally *tally = &snap->tallies[i];

		if (rss_total(&tally->rss))
			all.items[all.cnt++] =
				(struct process_rss){tally->process, &tally->rss,
						     processes_rss_first(pasts, tally->process)};
	}
	qsort(all.items, all.cnt, sizeof(*all.items), by_size);
	return all;
}

static const struct rss *latest_of(const struct process_tally *tally, const struct rss_pasts *pasts)
{
	const struct rss_past *past = NULL;

	if (rss_total(&tally->rss))
		return &tally->rss;
	if (pasts && process_tally_is_living(tally))
		past = rss_pasts_find(pasts, tally->process->image);
	return past ? &past->latest : NULL;
}

struct rss processes_rss_latest(const struct snapshot *snap, const struct rss_pasts *pasts)
{
	struct rss sum = {.arenas = 0};

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		const struct rss *rss = latest_of(&snap->tallies[i], pasts);

		if (rss)
			rss_join(&sum, rss);
	}
	return sum;
}

struct rss processes_rss_sum(const struct processes_rss *all, struct rss *ret_first,
			     bool *ret_has_first)
{
	struct rss sum = {.arenas = 0};

	*ret_first = sum;
	*ret_has_first = false;
	for (size_t i = 0; i < all->cnt; i++) {
		const struct process_rss *item = &all->items[i];

		rss_join(&sum, item->rss);
		rss_join(ret_first, item->first ?: item->rss);
		*ret_has_first |= item->first != NULL;
	}
	return sum;
}
