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

/* Numbers that grow in any order, and are looked up when they are all there. */
struct numbers {
	uint64_t *values;
	size_t cnt;
	size_t cap;
};

struct recycling {
	struct tracker *tracker;
	struct numbers young; /* sites of young blocks, whose totals may not say so */
	struct numbers live;  /* stacks with something outstanding */
	uint64_t moved;
};

static int numbers_add(struct numbers *numbers, uint64_t value)
{
	if (numbers->cnt == numbers->cap) {
		size_t cap = numbers->cap ? numbers->cap * 2 : 4096;
		uint64_t *grown = reallocarray(numbers->values, cap, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		numbers->values = grown;
		numbers->cap = cap;
	}
	numbers->values[numbers->cnt++] = value;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void numbers_sort(struct numbers *numbers)
{
	if (numbers->cnt)
		qsort(numbers->values, numbers->cnt, sizeof(*numbers->values), by_value);
}

static bool numbers_have(const struct numbers *numbers, uint64_t value)
{
	return numbers->cnt &&
	       bsearch(&value, numbers->values, numbers->cnt, sizeof(*numbers->values), by_value);
}

static int visit_young(void *arg, const void *key, const void *value)
{
	struct recycling *recycling = arg;

	return numbers_add(&recycling->young, ((const struct memleak_block *)value)->site);
}

static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct recycling *recycling = arg;
	const uint64_t *id = key;

	if (!site->total.bits && !site->wide_bytes && !numbers_have(&recycling->young, *id))
		return 0;
	return numbers_add(&recycling->live, site->stack);
}

/* 1: it has been copied, and may go. */
static int visit_stack(void *arg, const void *key, const void *value)
{
	const struct memleak_stack *stack = value;
	struct recycling *recycling = arg;
	struct tracker *tracker = recycling->tracker;
	const uint64_t *id = key;

	if (stack->frame_cnt <= tracker->stack_depth &&
	    tracker->archive.bytes < ARCHIVE_BYTES_MAX && !numbers_have(&recycling->live, *id)) {
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
	err = young_blocks_walk(&tracker->young, visit_young, &recycling);
	numbers_sort(&recycling.young);
	if (!err)
		err = table_walk_run(&sites);
	numbers_sort(&recycling.live);
	if (!err)
		err = table_walk_delete(&stacks);
	if (!err)
		watch_again(tracker, recycling.moved);
	free(recycling.young.values);
	free(recycling.live.values);
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
