// SPDX-License-Identifier: GPL-2.0-or-later
/* Hash map with open addressing and linear probing, at most half full. */
#include "base/hash_map.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

/* Hashes a number to 64 evenly distributed bits: the finalizer (last step) of MurmurHash3. */
static uint64_t hash_u64(uint64_t number)
{
	number ^= number >> 33;
	number *= 0xff51afd7ed558ccdULL;
	number ^= number >> 33;
	number *= 0xc4ceb9fe1a85ec53ULL;
	return number ^ number >> 33;
}

/* Returns the slot that has the key, or the free slot where the key can be put. */
static struct hash_map_slot *find_slot(const struct hash_map *map, uint64_t key)
{
	size_t mask = map->slot_cnt - 1, at = hash_u64(key) & mask;

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static int grow(struct hash_map *map)
{
	struct hash_map grown = {.slot_cnt = map->slot_cnt ? map->slot_cnt * 2 : FIRST_SLOTS,
				 .cnt = map->cnt};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->slot_cnt; i++)
		if (map->slots[i].value)
			*find_slot(&grown, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = grown;
	return 0;
}

void hash_map_deinit(struct hash_map *map)
{
	free(map->slots);
	*map = (struct hash_map){0};
}

void hash_map_free_all(struct hash_map *map)
{
	for (size_t i = 0; i < map->slot_cnt; i++)
		free(map->slots[i].value);
	hash_map_deinit(map);
}

void *hash_map_get(const struct hash_map *map, uint64_t key)
{
	return map->slot_cnt ? find_slot(map, key)->value : NULL;
}

int hash_map_set(struct hash_map *map, uint64_t key, void *value)
{
	struct hash_map_slot *slot;

	if (map->cnt >= map->slot_cnt / 2 && grow(map))
		return -ENOMEM;
	slot = find_slot(map, key);
	map->cnt += !slot->value;
	*slot = (struct hash_map_slot){.key = key, .value = value};
	return 0;
}

/* Moves later entries into the freed slot, since searches end at a free slot. */
void *hash_map_remove(struct hash_map *map, uint64_t key)
{
	struct hash_map_slot *hole = map->slot_cnt ? find_slot(map, key) : NULL;
	size_t mask = map->slot_cnt - 1, at;
	void *value = hole ? hole->value : NULL;

	if (!value)
		return NULL;
	for (at = hole - map->slots;;) {
		struct hash_map_slot *slot = &map->slots[at = (at + 1) & mask];
		size_t home = hash_u64(slot->key) & mask;

		if (!slot->value)
			break;
		if (((at - home) & mask) >= ((at - (hole - map->slots)) & mask)) {
			*hole = *slot;
			hole = slot;
		}
	}
	*hole = (struct hash_map_slot){0};
	map->cnt--;
	return value;
}

const struct hash_map_slot *hash_map_next(const struct hash_map *map,
					  const struct hash_map_slot *slot)
{
	size_t at = slot ? (size_t)(slot - map->slots) + 1 : 0;

	while (at < map->slot_cnt && !map->slots[at].value)
		at++;
	return at < map->slot_cnt ? &map->slots[at] : NULL;
}
