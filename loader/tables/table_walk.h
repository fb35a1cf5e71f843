/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks over a BPF hash table in batches of whole hash buckets: an element that stays in the table
 * is visited exactly once, whatever else is inserted and deleted meanwhile.
 */
#ifndef LOADER_TABLES_TABLE_WALK_H
#define LOADER_TABLES_TABLE_WALK_H

#include <stddef.h>

struct table_walk {
	int fd;
	size_t key_size;
	size_t value_size;
	/* Called for each element. Returns 0, or an error that ends the walk. */
	int (*element)(void *arg, const void *key, const void *value);
	/* Called for each element that table_walk_delete() has deleted; may be NULL. */
	void (*deleted)(void *arg, const void *key);
	void *arg;
};

/* Calls element for each element. Returns 0, -ENOMEM, the error of element, or that of bpf(2). */
int table_walk_run(const struct table_walk *walk);

/* Like table_walk_run(), but element may return 1 for an element to be deleted after the walk. */
int table_walk_delete(const struct table_walk *walk);

#endif
