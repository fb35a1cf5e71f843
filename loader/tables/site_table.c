// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements a hash table of sites with the sums of a walk. */
#include "loader/tables/site_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

static void free_entry(struct site_entry *entry)
{
	free(entry->frames);
	free(entry->births);
	free(entry);
}

void site_table_deinit(struct site_table *table)
{
	const struct hash_map_slot *slot = NULL;

	while ((slot = hash_map_next(&table->entries, slot)))
		free_entry(slot->value);
	hash_map_deinit(&table->entries);
	free(table->sites);
	free(table->walked);
}

void site_table_begin(struct site_table *table)
{
	table->walk++;
	table->site_cnt = 0;
}

static int add_site(struct site_table *table, struct site_entry *entry)
{
	size_t cnt = table->site_cnt, entry_cnt = table->entries.cnt;
	/* Most entries of earlier walks have sites again: make room for all of them at once. */
	size_t wanted = entry_cnt > cnt ? entry_cnt : cnt + 1;

	if (array_reserve(&table->sites, &table->site_cap, wanted) ||
	    array_reserve(&table->walked, &table->walked_cap, wanted))
		return -ENOMEM;
	table->sites[cnt] = (struct site){0};
	table->walked[cnt] = entry;
	entry->index = cnt;
	table->site_cnt++;
	return 0;
}

static int start_walk(struct site_table *table, struct site_entry *entry)
{
	if (entry->walk == table->walk)
		return 0;
	if (table->has_births && !entry->births)
		entry->births = malloc(sizeof(*entry->births));
	if (table->has_births && !entry->births)
		return -ENOMEM;
	if (add_site(table, entry))
		return -ENOMEM;
	if (entry->births)
		*entry->births = (struct ages){0};
	entry->walk = table->walk;
	entry->bytes = 0;
	entry->count = 0;
	entry->left_out = (struct part){0};
	entry->estimate = (struct estimate){0};
	entry->inherited = (struct part){0};
	entry->oldest_birth_ns = UINT64_MAX;
	entry->newest_birth_ns = 0;
	entry->largest = (struct block){0};
	entry->owners = (struct majority){0};
	return 0;
}

static struct site_entry *add_entry(struct site_table *table, uint64_t id)
{
	struct site_entry *entry = calloc(1, sizeof(*entry));

	if (!entry || hash_map_set(&table->entries, id, entry)) {
		free(entry);
		return NULL;
	}
	entry->id = id;
	return entry;
}

struct site_entry *site_table_get(struct site_table *table, uint64_t id)
{
	struct site_entry *entry = hash_map_get(&table->entries, id);

	if (!entry)
		entry = add_entry(table, id);
	return entry && !start_walk(table, entry) ? entry : NULL;
}

void site_table_add(struct site_table *table, struct site_entry *entry, const struct block *block,
		    uint64_t birth_ns, size_t moment, uint64_t last_age_ns)
{
	struct site *site = &table->sites[entry->index];

	entry->bytes += block->size;
	block_take_larger(&entry->largest, block);
	entry->count++;
	if (last_age_ns != AGE_UNKNOWN)
		site->kept[age_class(last_age_ns)]++;
	ages_add(&site->ages, block->age_ns, block->size);
	if (entry->births)
		ages_add_to(entry->births, moment, block->size);
	if (birth_ns < entry->oldest_birth_ns)
		entry->oldest_birth_ns = birth_ns;
	if (birth_ns > entry->newest_birth_ns)
		entry->newest_birth_ns = birth_ns;
}

void site_table_join(struct site_table *table, struct site_entry *entry,
		     const struct site_entry *part)
{
	struct site *site = &table->sites[entry->index];
	const struct site *site_part = &table->sites[part->index];

	entry->bytes += part->bytes;
	entry->count += part->count;
	estimate_join(&entry->estimate, &part->estimate);
	entry->inherited.bytes += part->inherited.bytes;
	entry->inherited.count += part->inherited.count;
	estimate_join(&entry->inherited.estimate, &part->inherited.estimate);
	block_take_larger(&entry->largest, &part->largest);
	ages_join(&site->ages, &site_part->ages);
	if (entry->births && part->births)
		ages_join(entry->births, part->births);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		site->kept[i] += site_part->kept[i];
	if (part->oldest_birth_ns < entry->oldest_birth_ns)
		entry->oldest_birth_ns = part->oldest_birth_ns;
	if (part->newest_birth_ns > entry->newest_birth_ns)
		entry->newest_birth_ns = part->newest_birth_ns;
}

void site_table_drop_images(struct site_table *table, const struct image_set *images)
{
	struct hash_map *map = &table->entries;

	for (size_t i = 0; i < map->slot_cnt;) {
		struct site_entry *entry = map->slots[i].value;

		if (entry && entry->is_known && image_set_has(images, entry->image)) {
			/*
			 * Removing an entry may move another entry into this slot: visit the slot
			 * again.
			 */
			hash_map_remove(map, entry->id);
			free_entry(entry);
		} else {
			i++;
		}
	}
}
