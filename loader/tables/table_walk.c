// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks BPF hash tables in batches. */
#include "loader/tables/table_walk.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"

#define BATCH 8192

static int visit_batch(const struct table_walk *walk, const char *keys, const char *values,
		       uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		int err = walk->element(walk->arg, keys + i * walk->key_size,
					values + i * walk->value_size);

		if (err)
			return err;
	}
	return 0;
}

/* Walks over the table. If a bucket does not fit into a batch (ENOSPC), a larger batch is used. */
int table_walk_run(const struct table_walk *walk)
{
	cleanup_free char *keys = NULL, *values = NULL;
	uint32_t cap = BATCH, position = 0;
	bool started = false, done = false;

	while (!done) {
		uint32_t cnt = cap;
		int err;

		if (walk->stops && walk->stops(walk->arg))
			return -ECANCELED;
		if (!keys) {
			keys = reallocarray(NULL, cap, walk->key_size);
			values = reallocarray(NULL, cap, walk->value_size);
			if (!keys || !values)
				return -ENOMEM;
		}
		err = bpf_map_lookup_batch(walk->fd, started ? &position : NULL, &position, keys,
					   values, &cnt, NULL);
		if (err == -ENOSPC) {
			free(keys);
			free(values);
			keys = values = NULL;
			cap *= 2;
			continue;
		}
		if (err && err != -ENOENT)
			return err;
		done = err == -ENOENT;
		started = true;
		err = visit_batch(walk, keys, values, cnt);
		if (err)
			return err;
	}
	return 0;
}

/* Keys to delete after the walk. */
struct key_list {
	const struct table_walk *walk;
	char *keys;
	size_t cnt;
	size_t cap;
};

static int collect_key(void *arg, const void *key, const void *value)
{
	struct key_list *key_list = arg;
	size_t size = key_list->walk->key_size;
	int verdict = key_list->walk->element(key_list->walk->arg, key, value);

	if (verdict != 1)
		return verdict;
	if (array_room(&key_list->keys, &key_list->cap, key_list->cnt + 1, size))
		return -ENOMEM;
	memcpy(key_list->keys + key_list->cnt++ * size, key, size);
	return 0;
}

/*
 * Deletes keys in batches. A batch ends early at a key that no longer exists; that key is skipped.
 */
static int delete_keys(const struct key_list *key_list)
{
	const struct table_walk *walk = key_list->walk;
	size_t at = 0;

	while (at < key_list->cnt) {
		const char *keys = key_list->keys + at * walk->key_size;
		uint32_t wanted =
			key_list->cnt - at < BATCH ? (uint32_t)(key_list->cnt - at) : BATCH;
		uint32_t cnt = wanted;
		int err = bpf_map_delete_batch(walk->fd, keys, &cnt, NULL);

		if (err && err != -ENOENT)
			return err;
		for (uint32_t i = 0; walk->deleted && i < cnt; i++)
			walk->deleted(walk->arg, keys + i * walk->key_size);
		at += cnt + (cnt < wanted);
	}
	return 0;
}

int table_walk_delete(const struct table_walk *walk)
{
	struct key_list key_list = {.walk = walk};
	struct table_walk search = *walk;
	int err, delete_err;

	search.element = collect_key;
	search.stops = NULL;
	search.arg = &key_list;
	err = table_walk_run(&search);
	delete_err = delete_keys(&key_list);
	free(key_list.keys);
	return err ? err : delete_err;
}
