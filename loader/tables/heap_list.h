/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the heap blocks of each process while a snapshot is made, for a proof. */
#ifndef LOADER_TABLES_HEAP_LIST_H
#define LOADER_TABLES_HEAP_LIST_H

#include "base/hash_map.h"
#include "loader/tables/site_table.h"
#include "report/snapshot.h"

struct heap_list {
	struct heap *heaps;
	size_t cnt;
	size_t cap;
	struct hash_map by_image;    /* key: image; value: index in `heaps` plus 1 */
	size_t last;                 /* index of the heap to which the last block was added */
	struct site_entry **entries; /* sites by number; blocks refer to a site by its number */
	size_t entry_cnt;
	size_t entry_cap;
};

/* Adds a block. is_judged: the proof judges this block. Returns 0 or -ENOMEM. */
int heap_list_add(struct heap_list *list, const struct process *process, struct site_entry *entry,
		  const struct block *block, bool is_judged);

/*
 * Moves the blocks into the snapshot, except blocks whose kind is not heap. Called after the sites
 * of the walk were given their indexes in the snapshot.
 */
void heap_list_move_to(struct heap_list *list, uint64_t walk, struct snapshot *snap);
void heap_list_deinit(struct heap_list *list);

#endif
