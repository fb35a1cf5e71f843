// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes tables into maps of the kernel, and compares. */
#include "loader/unwind_arena.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"

static int write_pages(int fd, uint32_t first, const struct unwind_table *table)
{
	cleanup_free uint32_t *keys = reallocarray(NULL, table->page_cnt, sizeof(*keys));
	uint32_t cnt = table->page_cnt;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		keys[i] = first + i;
	return bpf_map_update_batch(fd, keys, table->words, &cnt, NULL) ? -errno : 0;
}

int unwind_arena_fill(int arenas_fd, uint32_t number, const struct unwind_table *tables,
		      size_t table_cnt, uint32_t page_cnt)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	cleanup_close int fd = -1;
	uint32_t page = 0;

	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_arena", sizeof(uint32_t), UNWIND_PAGE_BYTES,
			    page_cnt, &opts);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < table_cnt; i++) {
		int err = write_pages(fd, page, &tables[i]);

		if (err)
			return err;
		page += tables[i].page_cnt;
	}
	return bpf_map_update_elem(arenas_fd, &number, &fd, BPF_ANY) ? -errno : 0;
}

bool unwind_arena_holds(int arenas_fd, uint32_t number, uint32_t page,
			const struct unwind_table *table)
{
	cleanup_free uint32_t *words = malloc(UNWIND_PAGE_BYTES);
	cleanup_close int fd = -1;
	uint32_t id;

	if (!words || bpf_map_lookup_elem(arenas_fd, &number, &id))
		return false;
	fd = bpf_map_get_fd_by_id(id);
	for (uint32_t i = 0; i < table->page_cnt; i++) {
		uint32_t key = page + i;

		if (bpf_map_lookup_elem(fd, &key, words) ||
		    memcmp(words, table->words + (size_t)i * UNWIND_PAGE_WORDS, UNWIND_PAGE_BYTES))
			return false;
	}
	return true;
}
