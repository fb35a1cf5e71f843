// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the second table of blocks when the first is filling up, and walks over the blocks of
 * both tables.
 */
#include "loader/tables/block_tables.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/test_knobs.h"
#include "loader/tables/table_walk.h"

/*
 * Maximum number of blocks in the first table: its buckets take 16 MB, and a process that allocates
 * at full speed fills it in a second
 */
#define FIRST_BLOCKS (1U << 20)

static uint32_t first_blocks(void)
{
	const char *wanted = test_knob(TEST_KNOB_FIRST_BLOCKS);

	return wanted ? (uint32_t)atoi(wanted) : FIRST_BLOCKS;
}

int block_tables_prepare(struct bpf_object *object, uint32_t blocks, bool may_grow, bool on_demand,
			 struct memleak_config *config)
{
	struct bpf_map *first = bpf_object__find_map_by_name(object, "blocks");
	struct bpf_map *outer = bpf_object__find_map_by_name(object, "more_blocks");
	struct bpf_map *second = outer ? bpf_map__inner_map(outer) : NULL;
	uint32_t most = first_blocks();
	int err = 0;

	if (!first || !second)
		return -EINVAL;
	config->grows = may_grow && on_demand && blocks > most;
	err |= bpf_map__set_max_entries(first, config->grows ? most : blocks);
	if (!on_demand)
		return err ? -EINVAL : 0;
	err |= bpf_map__set_map_flags(first, BPF_F_NO_PREALLOC);
	err |= bpf_map__set_map_flags(second, BPF_F_NO_PREALLOC);
	return err ? -EINVAL : 0;
}

/*
 * Makes the BPF programs report that the first table may be filling up once the blocks stored in it
 * reach half of its size. held: number of blocks in it now.
 */
static void watch_from(struct block_tables *tables, uint64_t held)
{
	tables->watch->stored = held;
	tables->watch->limit = tables->first / 2;
	tables->watch->is_sent = 0;
}

int block_tables_init(struct block_tables *ret, const struct bpf_object *object)
{
	*ret = (struct block_tables){
		.first_fd = bpf_object__find_map_fd_by_name(object, "blocks"),
		.outer_fd = bpf_object__find_map_fd_by_name(object, "more_blocks"),
		.second_fd = -1,
	};
	if (ret->first_fd < 0 || ret->outer_fd < 0)
		return -ENOENT;
	ret->first = bpf_map__max_entries(bpf_object__find_map_by_name(object, "blocks"));
	return 0;
}

void block_tables_watch(struct block_tables *tables, uint32_t blocks,
			volatile struct memleak_block_watch *watch)
{
	tables->second = blocks - tables->first;
	tables->watch = watch;
	watch_from(tables, 0);
}

void block_tables_deinit(struct block_tables *tables)
{
	if (tables->second_fd >= 0)
		close(tables->second_fd);
	tables->second_fd = -1;
}

static int make_second(const struct block_tables *tables)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_NO_PREALLOC);
	const uint32_t at = 0;
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "more_blocks", sizeof(struct memleak_block_key),
				sizeof(struct memleak_block), tables->second, &opts);
	int err = fd < 0 ? fd : bpf_map_update_elem(tables->outer_fd, &at, &fd, BPF_ANY);

	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

void block_tables_grow(struct block_tables *tables, const struct recent_blocks *recent)
{
	uint64_t in_cache, held;

	if (!tables->watch || tables->watch->stored < tables->watch->limit)
		return;
	recent_blocks_count(recent, &in_cache, &held);
	/* Most blocks stored in the table are freed already: it is not filling up. */
	if (held < tables->first / 4) {
		watch_from(tables, held);
		return;
	}
	tables->watch->is_sent = 1;
	tables->second_fd = make_second(tables);
	if (tables->second_fd >= 0)
		log_verbose("a second table of blocks was created, with room for %u more blocks",
			    tables->second);
	else
		log_note("cannot enlarge the table of blocks beyond %u blocks: %s", tables->first,
			 strerror(-tables->second_fd));
	tables->watch = NULL;
}

int block_tables_walk(const struct block_tables *tables,
		      int (*element)(void *arg, const void *key, const void *value),
		      bool (*stops)(void *arg), void *arg)
{
	struct table_walk walk = {
		.fd = tables->first_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(struct memleak_block),
		.element = element,
		.stops = stops,
		.arg = arg,
	};
	int err = table_walk_run(&walk);

	walk.fd = tables->second_fd;
	return err || walk.fd < 0 ? err : table_walk_run(&walk);
}

int block_tables_delete(const struct block_tables *tables,
			int (*element)(void *arg, const void *key, const void *value),
			void (*deleted)(void *arg, const void *key), void *arg)
{
	struct table_walk walk = {
		.fd = tables->first_fd,
		.key_size = sizeof(struct memleak_block_key),
		.value_size = sizeof(struct memleak_block),
		.element = element,
		.deleted = deleted,
		.arg = arg,
	};
	int err = table_walk_delete(&walk);

	walk.fd = tables->second_fd;
	return err || walk.fd < 0 ? err : table_walk_delete(&walk);
}
