// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the tables of freed blocks of which forked children may still have copies. */
#include "loader/tables/descendants.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "bpf/inheritance.h"
#include "bpf/memleak.h"
#include "loader/tables/table_walk.h"

/* Maximum delay before the record of a fork arrives, in nanoseconds */
#define RECORD_DELAY_NS 1000000000ULL
/* Divisor for the size of a table of freed blocks if the kernel preallocates its entries. */
#define ALLOCS_AT_ONCE 8
/* Maximum entries of a table of freed blocks: each takes memory as soon as the table is created. */
#define FREED_MOST (1U << 22)

int descendants_prepare(struct bpf_object *object, uint32_t max_allocs, bool on_demand)
{
	uint32_t most = max_allocs < FREED_MOST ? max_allocs : FREED_MOST;
	uint32_t freed = on_demand ? most : most / ALLOCS_AT_ONCE + 1;
	const struct {
		const char *name;
		uint32_t entries;
	} tables[] = {
		{"image_refs", 2 * MEMLEAK_TARGETS_MAX},
		{"freed_blocks", freed},
		{"freed_in_child", freed},
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

int descendants_init(struct descendants *descendants, const struct bpf_object *object)
{
	*descendants = (struct descendants){
		.release_fd =
			bpf_program__fd(bpf_object__find_program_by_name(object, "image_release")),
		.freed_fd = bpf_object__find_map_fd_by_name(object, "freed_blocks"),
		.freed_in_child_fd = bpf_object__find_map_fd_by_name(object, "freed_in_child"),
	};
	return descendants->release_fd < 0 || descendants->freed_fd < 0 ||
			       descendants->freed_in_child_fd < 0
		       ? -ENOENT
		       : 0;
}

void descendants_deinit(struct descendants *descendants)
{
	inheritance_deinit(&descendants->inheritance);
}

struct reading {
	struct descendants *descendants;
	struct recent_blocks *recent;
};

/* True if the free is so recent that the record of an earlier fork may still be on its way. */
static bool is_recent(const struct descendants *descendants, uint64_t freed_ns)
{
	return freed_ns + RECORD_DELAY_NS > descendants->records_until_ns;
}

/*
 * Adds a freed block. If no descendant can have the block, returns 1, so that its entry is deleted.
 */
static int read_freed(void *arg, const void *key, const void *value)
{
	const struct memleak_freed_key *at = key;
	const struct memleak_freed *left = value;
	const struct reading *reading = arg;
	struct descendants *descendants = reading->descendants;
	const struct inherited_block block = {
		.image = at->image,
		.tid = (pid_t)left->tid,
		.addr = at->addr,
		.size = left->size,
		.site = left->site,
		.birth_ns = at->birth_ns,
		.freed_ns = left->freed_ns,
	};

	descendants->freed_cnt++;
	if (inheritance_is_shared(&descendants->inheritance, at->image, at->birth_ns,
				  left->freed_ns))
		return inheritance_add(&descendants->inheritance, &block);
	return !is_recent(descendants, left->freed_ns);
}

/*
 * Called after the entry of a freed block was deleted. Removes the block from the counting filter,
 * with which the BPF programs check whether such an entry may exist.
 */
static void drop_freed(void *arg, const void *key)
{
	const struct memleak_freed_key *at = key;
	const struct memleak_block_key block = {.addr = at->addr, .image = at->image};
	const struct reading *reading = arg;

	reading->descendants->freed_cnt--;
	recent_blocks_uncount(reading->recent, &block);
}

static int read_freed_in_child(void *arg, const void *key, const void *value)
{
	const struct memleak_block_key *at = key;
	const struct reading *reading = arg;
	const struct freed_in_child freed_in_child = {
		.image = at->image,
		.addr = at->addr,
		.freed_ns = *(const uint64_t *)value,
	};

	if (is_recent(reading->descendants, freed_in_child.freed_ns) ||
	    inheritance_is_descendant(&reading->descendants->inheritance, at->image))
		return inheritance_free_in_child(&reading->descendants->inheritance,
						 &freed_in_child);
	return 1;
}

int descendants_read(struct descendants *descendants, struct recent_blocks *recent)
{
	struct reading reading = {descendants, recent};
	const struct table_walk left = {
		.fd = descendants->freed_fd,
		.key_size = sizeof(struct memleak_freed_key),
		.value_size = sizeof(struct memleak_freed),
		.element = read_freed,
		.deleted = drop_freed,
		.arg = &reading,
	};
	const struct table_walk freed_in_child = {
		.fd = descendants->freed_in_child_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(uint64_t),
		.element = read_freed_in_child,
		.arg = &reading,
	};
	int err;

	descendants->freed_cnt = 0;
	err = table_walk_delete(&left);

	return err ? err : table_walk_delete(&freed_in_child);
}

void descendants_forget(struct descendants *descendants, const struct image_set *images)
{
	for (size_t i = 0; i < images->cnt; i++) {
		uint64_t args[] = {images->items[i]};
		LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

		bpf_prog_test_run_opts(descendants->release_fd, &opts);
	}
}
