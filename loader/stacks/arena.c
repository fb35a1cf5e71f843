// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes unwind tables to kernel arrays, and compares tables with the contents of these arrays. */
#include "loader/stacks/arena.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int unwind_arena_init(uint32_t number, uint32_t page_cnt, struct unwind_arena *ret)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_arena", sizeof(uint32_t),
				UNWIND_PAGE_BYTES, page_cnt, &opts);

	if (fd < 0)
		return -errno;
	*ret = (struct unwind_arena){.fd = fd, .number = number, .page_cnt = page_cnt};
	return 0;
}

int unwind_arena_add(struct unwind_arena *arena, const struct unwind_table *table)
{
	cleanup_free uint32_t *keys = reallocarray(NULL, table->page_cnt, sizeof(*keys));
	uint32_t cnt = table->page_cnt;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		keys[i] = arena->used + i;
	if (bpf_map_update_batch(arena->fd, keys, table->words, &cnt, NULL))
		return -errno;
	arena->used += table->page_cnt;
	return 0;
}

bool unwind_arena_holds(int fd, uint32_t page, const struct unwind_table *table)
{
	cleanup_free uint32_t *words = malloc(UNWIND_PAGE_BYTES);

	if (!words)
		return false;
	for (uint32_t i = 0; i < table->page_cnt; i++) {
		uint32_t key = page + i;

		if (bpf_map_lookup_elem(fd, &key, words) ||
		    memcmp(words, table->words + (size_t)i * UNWIND_PAGE_WORDS, UNWIND_PAGE_BYTES))
			return false;
	}
	return true;
}
