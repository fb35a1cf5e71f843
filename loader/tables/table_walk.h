/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk over a BPF hash table in batches: a batch holds whole hash buckets, so no element that
 * stays is met twice or missed whatever is inserted and deleted meanwhile.
 */
#ifndef LOADER_TABLES_TABLE_WALK_H
#define LOADER_TABLES_TABLE_WALK_H

#include <stddef.h>

struct table_walk {
	int fd;
	size_t key_size;
	size_t value_size;
	/* Called for each element; 0, or an error that ends the walk. */
	int (*element)(void *arg, const void *key, const void *value);
	/*
	 * Called for each element that table_walk_delete has deleted; NULL: nobody wants to know.
	 */
	void (*deleted)(void *arg, const void *key);
	void *arg;
};

/* 0, -ENOMEM, what element returned, or what bpf(2) said. */
int table_walk_run(const struct table_walk *walk);

/*
 * Deletes the elements for which element returns 1 (0: keep, negative: error) once the walk is
 * over.
 */
int table_walk_delete(const struct table_walk *walk);

#endif
