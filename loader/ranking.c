// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Remembers the totals of the last snapshot by site id, in a hash table with open addressing
 * that is made anew for each snapshot: at most half full, never a deletion.
 */
#include <errno.h>
#include <stdlib.h>

#include "loader/report.h"

struct slot {
	uint64_t id;
	uint64_t bytes;
	uint64_t count;
	bool used;
};

struct ranking {
	struct slot *slots;
	size_t mask; /* a power of two, less 1 */
};

static size_t slots_for(size_t site_cnt)
{
	size_t cnt = 16;

	while (cnt / 2 < site_cnt)
		cnt *= 2;
	return cnt;
}

/* The slot of id, or the free one where it belongs. Ids may come from anywhere, so mix them. */
static struct slot *find_slot(struct slot *slots, size_t mask, uint64_t id)
{
	size_t at = (size_t)((id * 0x9e3779b97f4a7c15ULL) >> 32) & mask;

	while (slots[at].used && slots[at].id != id)
		at = (at + 1) & mask;
	return &slots[at];
}

int ranking__new(struct ranking **ret)
{
	struct ranking *ranking = calloc(1, sizeof(*ranking));

	if (!ranking)
		return -ENOMEM;
	*ret = ranking;
	return 0;
}

void ranking__free(struct ranking *ranking)
{
	if (!ranking)
		return;
	free(ranking->slots);
	free(ranking);
}

static struct growth growth_of(const struct ranking *ranking, const struct site *site)
{
	struct slot none = {0};
	const struct slot *last = &none;

	if (ranking->slots)
		last = find_slot(ranking->slots, ranking->mask, site->id);
	return (struct growth){
		.bytes = (int64_t)(site->bytes - last->bytes),
		.count = (int64_t)(site->count - last->count),
	};
}

int ranking__update(struct ranking *ranking, const struct snapshot *snap, struct growth *growth)
{
	size_t cnt = slots_for(snap->site_cnt);
	struct slot *slots = calloc(cnt, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		growth[i] = growth_of(ranking, site);
		*find_slot(slots, cnt - 1, site->id) = (struct slot){
			.id = site->id,
			.bytes = site->bytes,
			.count = site->count,
			.used = true,
		};
	}
	free(ranking->slots);
	ranking->slots = slots;
	ranking->mask = cnt - 1;
	return 0;
}
