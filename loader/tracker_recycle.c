// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves stacks of which nothing is outstanding out of the kernel's table. */
#include "loader/tracker_recycle.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#include "loader/cleanup.h"
#include "loader/table_walk.h"

/* More than this is not kept for paths that may never come again. */
#define ARCHIVE_BYTES_MAX (256U << 20)

struct recycling {
	struct tracker *tracker;
	uint64_t *live; /* stacks with something outstanding, sorted */
	size_t live_cnt;
	size_t live_cap;
	uint64_t moved;
};

static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct recycling *recycling = arg;

	if (!site->total.bits && !site->wide_bytes)
		return 0;
	if (recycling->live_cnt == recycling->live_cap) {
		size_t cap = recycling->live_cap ? recycling->live_cap * 2 : 4096;
		uint64_t *grown = reallocarray(recycling->live, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		recycling->live = grown;
		recycling->live_cap = cap;
	}
	recycling->live[recycling->live_cnt++] = site->stack;
	return 0;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 1: it has been copied, and may go. */
static int visit_stack(void *arg, const void *key, const void *value)
{
	const struct memleak_stack *stack = value;
	struct recycling *recycling = arg;
	struct tracker *tracker = recycling->tracker;
	const uint64_t *id = key;

	if (stack->frame_cnt <= tracker->stack_depth &&
	    tracker->archive.bytes < ARCHIVE_BYTES_MAX &&
	    !bsearch(id, recycling->live, recycling->live_cnt, sizeof(*id), by_id)) {
		recycling->moved++;
		return stack_archive_add(&tracker->archive, *id, stack) ? -ENOMEM : 1;
	}
	return 0;
}

/* The programs tell when three quarters of what is free now are used up. */
static void watch_again(struct tracker *tracker, uint64_t moved)
{
	uint64_t size = tracker->opts->stack_storage_size;
	/* The programs go on storing meanwhile. */
	uint64_t stored = __atomic_sub_fetch(&tracker->watch->stored, moved, __ATOMIC_RELAXED);
	uint64_t room = stored < size ? size - stored : 0;

	tracker->watch->limit = stored + room - room / 4;
	tracker->watch->told = room < size / 8; /* little was gained: the next report tries again */
}

int tracker_recycle(struct tracker *tracker)
{
	struct recycling recycling = {.tracker = tracker};
	const struct table_walk sites = {
		.fd = tracker->sites_fd,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = visit_site,
		.arg = &recycling,
	};
	const struct table_walk stacks = {
		.fd = tracker->stacks_fd,
		.key_size = sizeof(uint64_t),
		.value_size =
			sizeof(struct memleak_stack) + tracker->stack_depth * sizeof(uint64_t),
		.element = visit_stack,
		.arg = &recycling,
	};
	int err;

	if (!tracker->watch || tracker->watch->stored < tracker->watch->limit)
		return 0;
	err = table_walk_run(&sites);
	if (!err && recycling.live_cnt)
		qsort(recycling.live, recycling.live_cnt, sizeof(*recycling.live), by_id);
	if (!err)
		err = table_walk_delete(&stacks);
	if (!err)
		watch_again(tracker, recycling.moved);
	free(recycling.live);
	return err;
}

void tracker_recycle_stack(struct tracker *tracker, uint64_t id, const struct memleak_stack *stack)
{
	if (stack_archive_add(&tracker->archive, id, stack))
		return;
	if (!bpf_map_delete_elem(tracker->stacks_fd, &id) && tracker->watch)
		__atomic_sub_fetch(&tracker->watch->stored, 1, __ATOMIC_RELAXED);
}

void tracker_recycle_init(struct tracker *tracker)
{
	if (tracker->watch)
		watch_again(tracker, 0);
}
