/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash map from 64-bit numbers to pointers owned by the caller. A zeroed map is valid and empty.
 */
#ifndef BASE_HASH_MAP_H
#define BASE_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hash_map_slot {
	uint64_t key;
	void *value; /* value of the key; NULL if the slot is free */
};

struct hash_map {
	/* slots of an open-addressing table; slot_cnt is a power of two, or 0 */
	struct hash_map_slot *slots;
	size_t slot_cnt;
	size_t cnt;
};

/* Frees the map, but not the values. */
void hash_map_deinit(struct hash_map *map);
/* Frees the map, and the values by free(). */
void hash_map_free_all(struct hash_map *map);

/* Returns the value of a key; NULL if the key is not in the map. */
void *hash_map_get(const struct hash_map *map, uint64_t key);

/* Sets the value of a key, adding the key if needed. value is not NULL. Returns 0 or -ENOMEM. */
int hash_map_set(struct hash_map *map, uint64_t key, void *value);

/* Removes a key and returns its value; NULL if the key was not in the map. */
void *hash_map_remove(struct hash_map *map, uint64_t key);

/*
 * Iterates over the used slots: returns the one after `slot`, or the first one if slot is NULL;
 * returns NULL at the end.
 */
const struct hash_map_slot *hash_map_next(const struct hash_map *map,
					  const struct hash_map_slot *slot);

#endif
