// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the tables of freed blocks that children may have. */
#include "loader/heirs.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "bpf/inheritance.h"
#include "bpf/memleak.h"
#include "loader/table_walk.h"

/* A fork is heard of so long after it was at most. */
#define HEARING_NS 1000000000ULL
/* Where memory is taken before it is needed. */
#define ALLOCS_AT_ONCE 8

int heirs_prepare(struct bpf_object *object, uint32_t max_allocs, bool on_demand)
{
	uint32_t freed = on_demand ? max_allocs : max_allocs / ALLOCS_AT_ONCE + 1;
	const struct {
		const char *name;
		uint32_t entries;
	} tables[] = {
		{"estates", 2 * MEMLEAK_TARGETS_MAX},
		{"left_blocks", freed},
		{"disowned", freed},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, tables[i].name);

		if (!map)
			return -ENOENT;
		err |= bpf_map__set_max_entries(map, tables[i].entries);
		if (on_demand)
			err |= bpf_map__set_map_flags(map, BPF_F_NO_PREALLOC);
	}
	return err ? -EINVAL : 0;
}

int heirs_init(struct heirs *heirs, const struct bpf_object *object)
{
	*heirs = (struct heirs){
		.estates_fd = bpf_object__find_map_fd_by_name(object, "estates"),
		.left_fd = bpf_object__find_map_fd_by_name(object, "left_blocks"),
		.disowned_fd = bpf_object__find_map_fd_by_name(object, "disowned"),
	};
	return heirs->estates_fd < 0 || heirs->left_fd < 0 || heirs->disowned_fd < 0 ? -ENOENT : 0;
}

void heirs_deinit(struct heirs *heirs)
{
	inheritance_deinit(&heirs->inheritance);
}

struct reading {
	struct heirs *heirs;
	struct young_blocks *young;
};

/* Whether it may concern a fork that was not heard of yet. */
static bool is_recent(const struct heirs *heirs, uint64_t freed_ns)
{
	return freed_ns + HEARING_NS > heirs->heard_ns;
}

/* 1: nobody needs it; so below. */
static int read_left(void *arg, const void *key, const void *value)
{
	const struct memleak_left_key *at = key;
	const struct memleak_left *left = value;
	const struct reading *reading = arg;
	struct heirs *heirs = reading->heirs;
	const struct heirloom block = {
		.image = at->image,
		.tid = (pid_t)left->tid,
		.addr = at->addr,
		.size = left->size,
		.site = left->site,
		.birth_ns = at->birth_ns,
		.freed_ns = left->freed_ns,
	};

	heirs->left_cnt++;
	if (inheritance_is_shared(&heirs->inheritance, at->image, at->birth_ns, left->freed_ns))
		return inheritance_add(&heirs->inheritance, &block);
	return !is_recent(heirs, left->freed_ns);
}

/* The programs find such blocks by the counts of what is held. */
static void drop_left(void *arg, const void *key)
{
	const struct memleak_left_key *at = key;
	const struct memleak_block_key block = {.addr = at->addr, .image = at->image};
	const struct reading *reading = arg;

	reading->heirs->left_cnt--;
	young_blocks_uncount(reading->young, &block);
}

static int read_disowned(void *arg, const void *key, const void *value)
{
	const struct memleak_block_key *at = key;
	const struct reading *reading = arg;
	const struct disowned disowned = {
		.image = at->image,
		.addr = at->addr,
		.freed_ns = *(const uint64_t *)value,
	};

	if (is_recent(reading->heirs, disowned.freed_ns) ||
	    inheritance_is_heir(&reading->heirs->inheritance, at->image))
		return inheritance_disown(&reading->heirs->inheritance, &disowned);
	return 1;
}

int heirs_read(struct heirs *heirs, struct young_blocks *young)
{
	struct reading reading = {heirs, young};
	const struct table_walk left = {
		.fd = heirs->left_fd,
		.key_size = sizeof(struct memleak_left_key),
		.value_size = sizeof(struct memleak_left),
		.element = read_left,
		.deleted = drop_left,
		.arg = &reading,
	};
	const struct table_walk disowned = {
		.fd = heirs->disowned_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(uint64_t),
		.element = read_disowned,
		.arg = &reading,
	};
	int err;

	heirs->left_cnt = 0;
	err = table_walk_delete(&left);

	return err ? err : table_walk_delete(&disowned);
}

void heirs_forget(struct heirs *heirs, const struct image_set *images)
{
	for (size_t i = 0; i < images->cnt; i++)
		bpf_map_delete_elem(heirs->estates_fd, &images->items[i]);
}
