// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds stacks, and evicts stacks without outstanding blocks. */
#include "loader/tables/stack_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"
#include "loader/tables/table_walk.h"

/* Maximum total size of evicted stacks in bytes; they are kept even if never needed again. */
#define EVICTED_BYTES_MAX (256U << 20)

static size_t bytes_of(size_t frame_cnt)
{
	return sizeof(struct memleak_stack) + frame_cnt * sizeof(uint64_t);
}

/* Returns the size of a stack with its script frames, in bytes. */
static size_t stack_bytes(const struct memleak_stack *stack)
{
	return bytes_of(stack->frame_cnt) + stack->script_cnt * sizeof(struct memleak_script_frame);
}

/*
 * Makes the BPF programs report that the table is filling up once they have used three quarters of
 * the entries that are free now. moved: number of stacks that were just evicted.
 */
static void watch_again(struct stack_table *table, uint64_t moved)
{
	/* Subtract atomically, because the BPF programs store stacks at the same time. */
	uint64_t stored = __atomic_sub_fetch(&table->watch->stored, moved, __ATOMIC_RELAXED);
	uint64_t room = stored < table->size ? table->size - stored : 0;

	table->watch->limit = stored + room - room / 4;
	/*
	 * If the eviction has freed few entries, do not let the BPF programs request another at
	 * once: the next one is made after the next snapshot.
	 */
	table->watch->is_sent = room < table->size / 8;
}

int stack_table_init(struct stack_table *ret, const struct bpf_object *object, uint32_t depth,
		     volatile struct memleak_stack_watch *watch)
{
	const struct bpf_map *stacks = bpf_object__find_map_by_name(object, "stacks");
	int sites_fd = bpf_object__find_map_fd_by_name(object, "sites");

	if (!stacks || sites_fd < 0)
		return -ENOENT;
	*ret = (struct stack_table){
		.fd = bpf_map__fd(stacks),
		.sites_fd = sites_fd,
		.depth = depth,
		.size = bpf_map__max_entries(stacks),
		.watch = watch,
	};
	if (watch)
		watch_again(ret, 0);
	return 0;
}

void stack_table_deinit(struct stack_table *table)
{
	hash_map_free_all(&table->evicted);
}

bool stack_table_find(const struct stack_table *table, uint64_t id, struct memleak_stack *ret)
{
	const struct memleak_stack *evicted;

	if (!bpf_map_lookup_elem(table->fd, &id, ret)) {
		if (ret->frame_cnt > table->depth)
			ret->frame_cnt = (uint16_t)table->depth;
		return true;
	}
	evicted = hash_map_get(&table->evicted, id);
	if (evicted)
		memcpy(ret, evicted, stack_bytes(evicted));
	return evicted != NULL;
}

/* Keeps a copy of a stack in `evicted`, unless a stack with this id is already there. */
static int keep(struct stack_table *table, uint64_t id, const struct memleak_stack *stack)
{
	size_t bytes = stack_bytes(stack);
	struct memleak_stack *copy;

	if (hash_map_get(&table->evicted, id))
		return 0;
	copy = malloc(bytes);
	if (!copy || hash_map_set(&table->evicted, id, copy)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, stack, bytes);
	table->evicted_bytes += bytes;
	return 0;
}

void stack_table_replace(struct stack_table *table, uint64_t id, const struct memleak_stack *stack)
{
	if (keep(table, id, stack))
		return;
	if (!bpf_map_delete_elem(table->fd, &id) && table->watch)
		__atomic_sub_fetch(&table->watch->stored, 1, __ATOMIC_RELAXED);
}

/* A set of numbers: first add numbers in any order, then sort the set, then look numbers up. */
struct numbers {
	uint64_t *values;
	size_t cnt;
	size_t cap;
};

struct eviction {
	struct stack_table *table;
	struct numbers recent; /* sites with recent blocks, which their totals may lack */
	struct numbers live;   /* stacks with outstanding blocks */
	uint64_t moved;
};

static int numbers_add(struct numbers *numbers, uint64_t value)
{
	if (array_reserve(&numbers->values, &numbers->cap, numbers->cnt + 1))
		return -ENOMEM;
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
	size_t at = bisect_numbers(numbers->values, numbers->cnt, value);

	return at < numbers->cnt && numbers->values[at] == value;
}

static int visit_recent(void *arg, const void *key, const void *value)
{
	struct eviction *eviction = arg;

	return numbers_add(&eviction->recent, ((const struct memleak_block *)value)->site);
}

static int visit_site(void *arg, const void *key, const void *value)
{
	const struct memleak_site *site = value;
	struct eviction *eviction = arg;
	const uint64_t *id = key;

	if (!site->total.bits && !site->wide_bytes && !numbers_have(&eviction->recent, *id))
		return 0;
	return numbers_add(&eviction->live, site->stack);
}

/*
 * Evicts a stack without outstanding blocks: copies it, and returns 1 so that it is deleted from
 * the kernel's table.
 */
static int visit_stack(void *arg, const void *key, const void *value)
{
	const struct memleak_stack *stack = value;
	struct eviction *eviction = arg;
	struct stack_table *table = eviction->table;
	const uint64_t *id = key;

	if (stack_bytes(stack) > bytes_of(table->depth) ||
	    table->evicted_bytes >= EVICTED_BYTES_MAX || numbers_have(&eviction->live, *id))
		return 0;
	eviction->moved++;
	return keep(table, *id, stack) ? -ENOMEM : 1;
}

int stack_table_evict(struct stack_table *table, struct recent_blocks *recent)
{
	struct eviction eviction = {.table = table};
	const struct table_walk sites = {
		.fd = table->sites_fd,
		.key_size = sizeof(uint64_t),
		.value_size = sizeof(struct memleak_site),
		.element = visit_site,
		.arg = &eviction,
	};
	const struct table_walk stacks = {
		.fd = table->fd,
		.key_size = sizeof(uint64_t),
		.value_size = bytes_of(table->depth),
		.element = visit_stack,
		.arg = &eviction,
	};
	int err;

	if (!table->watch || table->watch->stored < table->watch->limit)
		return 0;
	err = recent_blocks_walk(recent, NULL, visit_recent, &eviction);
	numbers_sort(&eviction.recent);
	if (!err)
		err = table_walk_run(&sites);
	numbers_sort(&eviction.live);
	if (!err)
		err = table_walk_delete(&stacks);
	if (!err)
		watch_again(table, eviction.moved);
	free(eviction.recent.values);
	free(eviction.live.values);
	return err;
}
