/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hash of addresses, each in two flavours (exact or a return address), to pointers that the
 * user owns. Entries are only added or replaced.
 */
#ifndef ADDR_MAP_H
#define ADDR_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addr_entry {
	uint64_t addr;
	bool exact;
	void *value; /* NULL: the slot is free */
};

struct addr_map {
	struct addr_entry *slots; /* cap of them, a power of two, or none */
	size_t cap;
	size_t cnt;
};

/* NULL: not there. */
void *addr_map_get(const struct addr_map *map, uint64_t addr, bool exact);
/* value is not NULL. Fails only with -ENOMEM. */
int addr_map_set(struct addr_map *map, uint64_t addr, bool exact, void *value);
void addr_map_deinit(struct addr_map *map);

#endif
