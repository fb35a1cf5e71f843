// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash of addresses with open addressing. */
#include <errno.h>
#include <stdlib.h>

#include "symbolizer/addr_map.h"

static struct addr_entry *slot_of(const struct addr_map *map, uint64_t addr, bool exact)
{
	uint64_t hash = (addr * 2 + exact) * 0x9e3779b97f4a7c15;
	size_t i = (hash >> 32) & (map->cap - 1);

	/* Never full, so a free slot ends it. */
	while (map->slots[i].value && (map->slots[i].addr != addr || map->slots[i].exact != exact))
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

void *addr_map_get(const struct addr_map *map, uint64_t addr, bool exact)
{
	return map->cap ? slot_of(map, addr, exact)->value : NULL;
}

static int grow(struct addr_map *map)
{
	struct addr_map bigger = {.cap = map->cap ? map->cap * 2 : 256, .cnt = map->cnt};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->cap; i++) {
		const struct addr_entry *old = &map->slots[i];

		if (old->value)
			*slot_of(&bigger, old->addr, old->exact) = *old;
	}
	free(map->slots);
	*map = bigger;
	return 0;
}

int addr_map_set(struct addr_map *map, uint64_t addr, bool exact, void *value)
{
	struct addr_entry *slot;

	if (map->cnt * 4 >= map->cap * 3) {
		int err = grow(map);

		if (err)
			return err;
	}
	slot = slot_of(map, addr, exact);
	if (!slot->value)
		map->cnt++;
	*slot = (struct addr_entry){addr, exact, value};
	return 0;
}

void addr_map_deinit(struct addr_map *map)
{
	free(map->slots);
	*map = (struct addr_map){0};
}
