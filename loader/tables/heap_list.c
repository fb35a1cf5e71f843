// SPDX-License-Identifier: GPL-2.0-or-later
/* Collects the heap blocks of each process, for a proof. */
#include "loader/tables/heap_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "loader/tables/translate.h"

static struct heap *find_heap(struct heap_list *list, const struct process *process)
{
	uintptr_t at;

	if (list->last < list->cnt && list->heaps[list->last].image == process->image)
		return &list->heaps[list->last];
	at = (uintptr_t)hash_map_get(&list->by_image, process->image);
	if (!at) {
		if (array_reserve(&list->heaps, &list->cap, list->cnt + 1) ||
		    hash_map_set(&list->by_image, process->image, (void *)(list->cnt + 1)))
			return NULL;
		list->heaps[list->cnt++] =
			(struct heap){.image = process->image, .pid = process->pid};
		at = list->cnt;
	}
	list->last = at - 1;
	return &list->heaps[at - 1];
}

/* Numbers a site in this list, unless it has a number. Returns 0 or -ENOMEM. */
static int number_entry(struct heap_list *list, struct site_entry *entry)
{
	if (entry->number < list->entry_cnt && list->entries[entry->number] == entry)
		return 0;
	if (list->entry_cnt == HEAP_BLOCK_UNJUDGED ||
	    array_reserve(&list->entries, &list->entry_cap, list->entry_cnt + 1))
		return -ENOMEM;
	entry->number = (uint32_t)list->entry_cnt;
	list->entries[list->entry_cnt++] = entry;
	return 0;
}

int heap_list_add(struct heap_list *list, const struct process *process, struct site_entry *entry,
		  const struct block *block, bool is_judged)
{
	struct heap *heap = find_heap(list, process);

	if (!heap || number_entry(list, entry) ||
	    array_reserve(&heap->blocks, &heap->block_cap, heap->block_cnt + 1))
		return -ENOMEM;
	heap->blocks[heap->block_cnt++] = (struct heap_block){
		.addr = block->addr,
		.size = block->size < HEAP_BLOCK_BYTES_MAX ? (uint32_t)block->size
							   : HEAP_BLOCK_BYTES_MAX,
		.site = entry->number | (is_judged ? 0 : HEAP_BLOCK_UNJUDGED),
	};
	return 0;
}

/*
 * True if the site is in the snapshot. A site is not in the snapshot if all its blocks are left
 * out.
 */
static bool is_in_snapshot(const struct site_entry *entry, uint64_t walk)
{
	return entry->walk == walk && entry->count;
}

void heap_list_move_to(struct heap_list *list, uint64_t walk, struct snapshot *snap)
{
	for (size_t i = 0; i < list->cnt; i++) {
		struct heap *heap = &list->heaps[i];
		size_t kept = 0;

		for (size_t j = 0; j < heap->block_cnt; j++) {
			struct heap_block *block = &heap->blocks[j];
			const struct site_entry *entry = list->entries[heap_block_site(block)];

			if (entry->joined)
				entry = entry->joined;
			if (entry->is_known && kind_from(entry->kind) != KIND_HEAP)
				continue;
			/* A proof does not judge blocks whose site is not in the snapshot. */
			block->site = is_in_snapshot(entry, walk)
					      ? (uint32_t)entry->index |
							(block->site & HEAP_BLOCK_UNJUDGED)
					      : HEAP_BLOCK_UNJUDGED | HEAP_BLOCK_NO_SITE;
			heap->blocks[kept++] = *block;
		}
		heap->block_cnt = kept;
	}
	snap->heaps = list->heaps;
	snap->heap_cnt = list->cnt;
	list->heaps = NULL;
	list->cnt = 0;
	heap_list_deinit(list);
}

void heap_list_deinit(struct heap_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		free(list->heaps[i].blocks);
	free(list->heaps);
	free(list->entries);
	hash_map_deinit(&list->by_image);
	memset(list, 0, sizeof(*list));
}
