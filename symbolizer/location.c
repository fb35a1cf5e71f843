// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the locations of a space, keyed by address or file offset. */
#include "symbolizer/location.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/clock.h"

/*
 * Returns the hash key of a query. The highest bit is set in keys of queries by file offset, since
 * it is never set in an address of a process.
 */
static uint64_t key_of(const struct sym_query *query)
{
	if (query->kind == SYM_TLS)
		return query->distance;
	return query->file ? 1ULL << 63 | (uint64_t)query->file << 40 | query->addr : query->addr;
}

static size_t map_of(const struct sym_query *query)
{
	return query->kind == SYM_CODE ? query->exact : 1 + (size_t)query->kind;
}

struct location *locations_get(const struct locations *locations, const struct sym_query *query)
{
	return hash_map_get(&locations->newest[map_of(query)], key_of(query));
}

int locations_add(struct locations *locations, const struct sym_query *query, struct location **ret)
{
	struct location *loc;

	if (array_reserve(&locations->all, &locations->cap, locations->cnt + 1))
		return -ENOMEM;
	loc = calloc(1, sizeof(*loc));
	if (!loc)
		return -ENOMEM;
	loc->pub.addr = query->addr;
	loc->pub.frames = &loc->own;
	loc->pub.frame_cnt = 1;
	loc->kind = query->kind;
	loc->exact = query->exact || query->kind != SYM_CODE;
	loc->since_ns = clock_ns(CLOCK_MONOTONIC);
	/*
	 * For a return address, look up the byte before it: the return address itself may be in the
	 * next function.
	 */
	loc->pc = loc->exact ? query->addr : query->addr - 1;
	if (hash_map_set(&locations->newest[map_of(query)], key_of(query), loc)) {
		free(loc);
		return -ENOMEM;
	}
	locations->all[locations->cnt++] = loc;
	*ret = loc;
	return 0;
}

void locations_deinit(struct locations *locations)
{
	for (size_t i = 0; i < locations->cnt; i++) {
		free(locations->all[i]->own_symbol);
		free(locations->all[i]->kernel_frames);
		free(locations->all[i]);
	}
	free(locations->all);
	for (size_t i = 0; i < 1 + SYM_KIND_CNT; i++)
		hash_map_deinit(&locations->newest[i]);
}
