// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Applies the events of a process that concern inheritance. The target can forge these events, so
 * the number of stored entries is limited.
 */
#include "loader/agent/heritage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/*
 * Maximum number of entries in each of `freed_shared` and `freed`. It equals the maximum for the
 * BPF programs' tables of freed blocks.
 */
#define FREED_MOST (1U << 22)
/*
 * Maximum number of awaited children: forked children whose accounts have not arrived. Accounts
 * usually arrive immediately. If there are more awaited children, the oldest are dropped.
 */
#define AWAITED_MOST 4096
/* Maximum number of mappings stored for all awaited children. */
#define AWAITED_RANGES_MOST (1U << 20)

struct awaited_child {
	uint64_t forked_ns;
	struct ranges ranges; /* the parent's mappings at the time of the fork */
};

void heritage_deinit(struct heritage *heritage)
{
	hash_map_free_all(&heritage->freed);
	for (size_t i = 0; i < heritage->awaited_cnt; i++)
		ranges_deinit(&heritage->awaited[i].ranges);
	free(heritage->awaited);
	free(heritage->freed_shared);
	*heritage = (struct heritage){0};
}

static void forget_awaited(struct heritage *heritage, size_t at)
{
	heritage->awaited_ranges -= heritage->awaited[at].ranges.cnt;
	ranges_deinit(&heritage->awaited[at].ranges);
	array_remove(heritage->awaited, &heritage->awaited_cnt, at);
}

static int await(struct heritage *heritage, uint64_t forked_ns, uint32_t image,
		 const struct ranges *ranges)
{
	struct awaited_child *child;

	while (heritage->awaited_cnt &&
	       (heritage->awaited_cnt == AWAITED_MOST ||
		heritage->awaited_ranges + ranges->cnt > AWAITED_RANGES_MOST))
		forget_awaited(heritage, 0);
	if (array_reserve(&heritage->awaited, &heritage->awaited_cap, heritage->awaited_cnt + 1))
		return -ENOMEM;
	child = &heritage->awaited[heritage->awaited_cnt];
	*child = (struct awaited_child){.forked_ns = forked_ns};
	ranges_init(&child->ranges, ranges->page_size, ranges->memory_bytes);
	if (ranges_inherit(&child->ranges, ranges, image))
		return -ENOMEM;
	heritage->awaited_cnt++;
	heritage->awaited_ranges += ranges->cnt;
	return 0;
}

static int leave(struct heritage *heritage, const struct account_view *view, uint32_t image,
		 const struct account_event *event)
{
	uint64_t life = event->stack | (uint64_t)event->flags << 32;
	struct account_block block;

	if (heritage->freed_shared_cnt >= FREED_MOST) {
		heritage->lost++;
		return 0;
	}
	if (array_reserve(&heritage->freed_shared, &heritage->freed_shared_cap,
			  heritage->freed_shared_cnt + 1))
		return -ENOMEM;
	account_view_block(view, event->addr, event->len, life, &block);
	heritage->freed_shared[heritage->freed_shared_cnt++] = (struct inherited_block){
		.image = image,
		.tid = (pid_t)block.tid,
		.addr = block.addr,
		.size = block.size,
		.site = block.stack | (block.is_sample ? ACCOUNT_RANGE_SAMPLE : 0),
		.birth_ns = block.birth_ns,
		.freed_ns = event->time_ns,
	};
	return 0;
}

/*
 * Records the free of an inherited block. A child has only one copy of each block, so later frees
 * of the same address are ignored.
 */
static int free_in_child(struct heritage *heritage, uint32_t image,
			 const struct account_event *event)
{
	struct freed_in_child *freed;

	if (hash_map_get(&heritage->freed, event->addr))
		return 0;
	if (heritage->freed.cnt >= FREED_MOST) {
		heritage->lost++;
		return 0;
	}
	freed = malloc(sizeof(*freed));
	if (!freed)
		return -ENOMEM;
	*freed = (struct freed_in_child){image, event->addr, event->time_ns};
	if (!hash_map_set(&heritage->freed, event->addr, freed))
		return 0;
	free(freed);
	return -ENOMEM;
}

int heritage_apply(struct heritage *heritage, const struct account_view *view, uint32_t image,
		   const struct ranges *ranges, const struct account_event *event)
{
	switch (event->type) {
	case ACCOUNT_EVENT_FORK:
		heritage->forked++;
		heritage->forked_ns = event->time_ns;
		return await(heritage, event->time_ns, image, ranges);
	case ACCOUNT_EVENT_FREED_SHARED:
		return leave(heritage, view, image, event);
	case ACCOUNT_EVENT_FREED_INHERITED:
		return view->forked_ns ? free_in_child(heritage, image, event) : 0;
	default:
		return 0;
	}
}

int heritage_claim(struct heritage *heritage, uint64_t forked_ns, uint32_t image,
		   struct ranges *child)
{
	size_t at = 0;
	int err;

	while (at < heritage->awaited_cnt && heritage->awaited[at].forked_ns != forked_ns)
		at++;
	if (at == heritage->awaited_cnt)
		return -ENOENT;
	err = ranges_inherit(child, &heritage->awaited[at].ranges, image);
	forget_awaited(heritage, at);
	return err;
}

uint64_t heritage_missing(const struct heritage *heritage, bool ended, uint64_t since_ns)
{
	bool may_come = !ended && heritage->forked_ns >= since_ns;

	return may_come || heritage->arrived_cnt >= heritage->forked
		       ? 0
		       : heritage->forked - heritage->arrived_cnt;
}

bool heritage_is_awaited(const struct heritage *heritage, uint64_t since_ns)
{
	size_t cnt = heritage->awaited_cnt;

	return cnt && heritage->awaited[cnt - 1].forked_ns >= since_ns;
}

int heritage_walk(struct heritage *heritage, struct inheritance *inheritance, uint64_t since_ns)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && i < heritage->freed_shared_cnt; i++) {
		const struct inherited_block *block = &heritage->freed_shared[i];
		bool shared = inheritance_is_shared(inheritance, block->image, block->birth_ns,
						    block->freed_ns);

		if (shared)
			err = inheritance_add(inheritance, block);
		if (shared || block->freed_ns >= since_ns)
			heritage->freed_shared[kept++] = *block;
	}
	if (!err)
		heritage->freed_shared_cnt = kept;
	return err;
}

int heritage_walk_freed(const struct heritage *heritage, struct inheritance *inheritance)
{
	const struct hash_map_slot *slot = NULL;
	int err = 0;

	while (!err && (slot = hash_map_next(&heritage->freed, slot)))
		err = inheritance_free_in_child(inheritance, slot->value);
	return err;
}
