/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hash map from numbers of 64 bits to pointers that the user owns. Zero is a valid empty map. */
#ifndef BASE_HASH_MAP_H
#define BASE_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct hash_map_slot {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct hash_map {
	struct hash_map_slot *slots; /* in no order; slot_cnt is a power of two, or 0 */
	size_t slot_cnt;
	size_t cnt;
};

/* Frees the map; the values remain the caller's. */
void hash_map_deinit(struct hash_map *map);

/* NULL: there is no such key. */
void *hash_map_get(const struct hash_map *map, uint64_t key);

/* Adds a key, or gives it another value, which is not NULL. 0 or -ENOMEM. */
int hash_map_set(struct hash_map *map, uint64_t key, void *value);

/* Takes a key out and returns its value; NULL: there was no such key. */
void *hash_map_remove(struct hash_map *map, uint64_t key);

/* The next slot that is in use, after one that was returned or, at first, NULL; NULL: no more. */
const struct hash_map_slot *hash_map_next(const struct hash_map *map,
					  const struct hash_map_slot *slot);

/* Spreads a number over all 64 bits. */
uint64_t hash_u64(uint64_t number);

#endif
