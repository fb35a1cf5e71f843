/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of each process's heap, kept while a snapshot is made of which a proof is wanted. */
#ifndef LOADER_TABLES_HEAP_LIST_H
#define LOADER_TABLES_HEAP_LIST_H

#include "base/hash_map.h"
#include "loader/tables/site_table.h"
#include "report/snapshot.h"

struct heap_list {
	struct heap *heaps;
	size_t cnt;
	size_t cap;
	struct hash_map by_image;    /* index + 1, as a pointer */
	size_t last;                 /* the heap of the last block */
	struct site_entry **entries; /* sites of blocks, which have their numbers until the end */
	size_t entry_cnt;
	size_t entry_cap;
};

/* 0 or -ENOMEM. */
int heap_list_add(struct heap_list *list, const struct process *process, struct site_entry *entry,
		  const struct block *block, bool is_judged);

/*
 * Once sites of that walk have their indices: moves the blocks into the snapshot. Those that are no
 * heap are left out.
 */
void heap_list_give(struct heap_list *list, uint64_t walk, struct snapshot *snap);
void heap_list_deinit(struct heap_list *list);

#endif
