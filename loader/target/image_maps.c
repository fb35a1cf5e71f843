// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of executable mappings, built from one record per mapping. */
#include "loader/target/image_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

struct image_maps {
	size_t *bytes;
	size_t own_bytes; /* bytes of memory that this list uses; included in *bytes */
	size_t users;
	struct mapping *items; /* sorted by address; each item owns its path */
	size_t cnt;
	size_t cap;
};

static void count_bytes(struct image_maps *maps, size_t bytes)
{
	maps->own_bytes += bytes;
	*maps->bytes += bytes;
}

static size_t bytes_of(const struct mapping *mapping)
{
	return sizeof(*mapping) + strlen(mapping->path) + 1;
}

int image_maps__new(size_t *bytes, struct image_maps **ret)
{
	struct image_maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return -ENOMEM;
	maps->bytes = bytes;
	maps->users = 1;
	count_bytes(maps, sizeof(*maps));
	*ret = maps;
	return 0;
}

struct image_maps *image_maps__share(struct image_maps *maps)
{
	if (maps)
		maps->users++;
	return maps;
}

void image_maps__free(struct image_maps *maps)
{
	if (!maps || --maps->users)
		return;
	*maps->bytes -= maps->own_bytes;
	for (size_t i = 0; i < maps->cnt; i++)
		free((char *)maps->items[i].path);
	free(maps->items);
	free(maps);
}

/*
 * Inserts a mapping at an index and copies its path. The caller must have reserved room in the
 * list.
 */
static int insert(struct image_maps *maps, size_t at, const struct mapping *mapping,
		  const char *path, size_t path_len)
{
	char *own = strndup(path, path_len);

	if (!own)
		return -ENOMEM;
	array_open(maps->items, maps->cnt, at);
	maps->items[at] = *mapping;
	maps->items[at].path = own;
	maps->cnt++;
	count_bytes(maps, bytes_of(&maps->items[at]));
	return 0;
}

static void remove_item(struct image_maps *maps, size_t at)
{
	size_t bytes = bytes_of(&maps->items[at]);

	maps->own_bytes -= bytes;
	*maps->bytes -= bytes;
	free((char *)maps->items[at].path);
	array_remove(maps->items, &maps->cnt, at);
}

static int own_copy(struct image_maps **maps)
{
	struct image_maps *copy;
	int err;

	if ((*maps)->users == 1)
		return 0;
	err = image_maps__new((*maps)->bytes, &copy);
	if (err)
		return err;
	err = array_reserve(&copy->items, &copy->cap, (*maps)->cnt);
	for (size_t i = 0; !err && i < (*maps)->cnt; i++) {
		const struct mapping *mapping = &(*maps)->items[i];

		err = insert(copy, i, mapping, mapping->path, strlen(mapping->path));
	}
	if (err) {
		image_maps__free(copy);
		return err;
	}
	image_maps__free(*maps);
	*maps = copy;
	return 0;
}

static void cut_front(struct mapping *mapping, uint64_t addr)
{
	if (mapping->file.ino)
		mapping->offset += addr - mapping->start;
	mapping->start = addr;
}

/* Returns the index of the first mapping that ends after addr. */
static size_t find(const struct image_maps *maps, uint64_t addr)
{
	return bisect_upto(maps->items, maps->cnt, end, addr);
}

/*
 * Removes all parts of mappings in [start, end). Sets *ret to the index at which a mapping that
 * begins at start is to be inserted.
 */
static int clear(struct image_maps *maps, uint64_t start, uint64_t end, size_t *ret)
{
	size_t at = find(maps, start);
	struct mapping *first = &maps->items[at];

	if (at < maps->cnt && first->start < start) {
		if (first->end > end) {
			struct mapping behind = *first;
			int err;

			cut_front(&behind, end);
			err = insert(maps, at + 1, &behind, behind.path, strlen(behind.path));
			if (err)
				return err;
		}
		maps->items[at].end = start;
		at++;
	}
	while (at < maps->cnt && maps->items[at].end <= end)
		remove_item(maps, at);
	if (at < maps->cnt && maps->items[at].start < end)
		cut_front(&maps->items[at], end);
	*ret = at;
	return 0;
}

static bool drop_oldest_without_file(struct image_maps *maps)
{
	size_t oldest = maps->cnt;

	for (size_t i = 0; i < maps->cnt; i++)
		if (!maps->items[i].file.ino && maps->items[i].path[0] != '[' &&
		    (oldest == maps->cnt || maps->items[i].since_ns < maps->items[oldest].since_ns))
			oldest = i;
	if (oldest == maps->cnt)
		return false;
	remove_item(maps, oldest);
	return true;
}

int image_maps__add(struct image_maps **maps, const struct mapping *mapping, const char *path,
		    size_t path_len)
{
	size_t at;
	int err = own_copy(maps);

	/* Reserve two items: one for the new mapping, one in case an old mapping is cut in two. */
	if (!err)
		err = array_reserve(&(*maps)->items, &(*maps)->cap, (*maps)->cnt + 2);
	if (!err)
		err = clear(*maps, mapping->start, mapping->end, &at);
	if (err)
		return err;
	while ((*maps)->cnt >= IMAGE_MAPS_MAX) {
		if (!drop_oldest_without_file(*maps))
			return -ENOSPC;
		at = find(*maps, mapping->start);
	}
	return insert(*maps, at, mapping, path, path_len);
}

int image_maps__copy(const struct image_maps *maps, struct proc_maps *ret)
{
	struct proc_maps copy = {.cnt = maps->cnt};
	size_t bytes = 1;
	char *store;

	for (size_t i = 0; i < maps->cnt; i++)
		bytes += strlen(maps->items[i].path) + 1;
	copy.path_store = store = malloc(bytes);
	copy.mappings = calloc(maps->cnt + 1, sizeof(*copy.mappings));
	if (!store || !copy.mappings) {
		proc_maps_deinit(&copy);
		return -ENOMEM;
	}
	for (size_t i = 0; i < maps->cnt; i++) {
		copy.mappings[i] = maps->items[i];
		copy.mappings[i].path = store;
		store = stpcpy(store, maps->items[i].path) + 1;
	}
	*ret = copy;
	return 0;
}
