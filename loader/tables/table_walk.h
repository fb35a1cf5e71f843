/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks over a BPF hash table in batches of whole hash buckets: an element that stays in the table
 * is visited exactly once, even if other elements are inserted and deleted during the walk.
 */
#ifndef LOADER_TABLES_TABLE_WALK_H
#define LOADER_TABLES_TABLE_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct table_walk {
	int fd;
	size_t key_size;
	size_t value_size;
	/* Called for each element. Returns 0, or an error that ends the walk. */
	int (*element)(void *arg, const void *key, const void *value);
	/* Called before each batch. If it returns true, the walk ends. NULL: the walk never ends
	 * early. */
	bool (*stops)(void *arg);
	/* Called for each element that table_walk_delete() has deleted; may be NULL. */
	void (*deleted)(void *arg, const void *key);
	void *arg;
};

/*
 * Calls element() for each element of the table. Returns 0, -ENOMEM, -ECANCELED if stops() returned
 * true, the error of element(), or the error of bpf(2).
 */
int table_walk_run(const struct table_walk *walk);

/* Like table_walk_run(), but element() may return 1: the element is then deleted after the walk. */
int table_walk_delete(const struct table_walk *walk);

#endif
