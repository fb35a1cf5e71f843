// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table of sites with the sums of a walk. */
#include "loader/site_table.h"

#include <stdlib.h>
#include <string.h>

static void free_entry(struct site_entry *entry)
{
	if (!entry)
		return;
	free(entry->frames);
	free(entry);
}

void site_table_deinit(struct site_table *table)
{
	for (size_t i = 0; i < table->slot_cnt; i++)
		free_entry(table->slots[i]);
	free(table->slots);
	*table = (struct site_table){0};
}

void site_table_begin(struct site_table *table)
{
	table->walk++;
}

/* Ids are hashes already: their low bits serve as they are. */
static struct site_entry **find_slot(struct site_entry **slots, size_t slot_cnt, uint64_t id)
{
	size_t at = id & (slot_cnt - 1);

	while (slots[at] && slots[at]->id != id)
		at = (at + 1) & (slot_cnt - 1);
	return &slots[at];
}

/* Moves all entries to a table of slot_cnt slots. */
static bool rehash(struct site_table *table, size_t slot_cnt)
{
	struct site_entry **slots = calloc(slot_cnt, sizeof(struct site_entry *));

	if (!slots)
		return false;
	for (size_t i = 0; i < table->slot_cnt; i++)
		if (table->slots[i])
			*find_slot(slots, slot_cnt, table->slots[i]->id) = table->slots[i];
	free(table->slots);
	table->slots = slots;
	table->slot_cnt = slot_cnt;
	return true;
}

static void start_walk(const struct site_table *table, struct site_entry *entry)
{
	if (entry->walk == table->walk)
		return;
	entry->walk = table->walk;
	entry->bytes = 0;
	entry->count = 0;
	entry->estimate = (struct estimate){0};
	entry->inherited = (struct part){0};
	entry->oldest_birth_ns = UINT64_MAX;
	entry->newest_birth_ns = 0;
	entry->largest = (struct block){0};
	entry->ages = (struct ages){0};
	memset(entry->kept, 0, sizeof(entry->kept));
}

struct site_entry *site_table_get(struct site_table *table, uint64_t id)
{
	struct site_entry **slot;

	if (table->cnt * 2 >= table->slot_cnt &&
	    !rehash(table, table->slot_cnt ? table->slot_cnt * 2 : 1024))
		return NULL;
	slot = find_slot(table->slots, table->slot_cnt, id);
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		if (!*slot)
			return NULL;
		(*slot)->id = id;
		table->cnt++;
	}
	start_walk(table, *slot);
	return *slot;
}

void site_entry_add(struct site_entry *entry, const struct block *block, uint64_t birth_ns,
		    uint64_t last_age_ns)
{
	entry->bytes += block->size;
	block_take_larger(&entry->largest, block);
	entry->count++;
	if (last_age_ns != AGE_UNKNOWN)
		entry->kept[age_class(last_age_ns)]++;
	ages_add(&entry->ages, block->age_ns, block->size);
	if (birth_ns < entry->oldest_birth_ns)
		entry->oldest_birth_ns = birth_ns;
	if (birth_ns > entry->newest_birth_ns)
		entry->newest_birth_ns = birth_ns;
}

static void ages_join(struct ages *ages, const struct ages *part)
{
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		ages->bytes[i] += part->bytes[i];
		ages->count[i] += part->count[i];
	}
}

void site_entry_join(struct site_entry *entry, const struct site_entry *part)
{
	entry->bytes += part->bytes;
	entry->count += part->count;
	estimate_join(&entry->estimate, &part->estimate);
	entry->inherited.bytes += part->inherited.bytes;
	entry->inherited.count += part->inherited.count;
	estimate_join(&entry->inherited.estimate, &part->inherited.estimate);
	block_take_larger(&entry->largest, &part->largest);
	ages_join(&entry->ages, &part->ages);
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		entry->kept[i] += part->kept[i];
	if (part->oldest_birth_ns < entry->oldest_birth_ns)
		entry->oldest_birth_ns = part->oldest_birth_ns;
	if (part->newest_birth_ns > entry->newest_birth_ns)
		entry->newest_birth_ns = part->newest_birth_ns;
}

void site_table_drop_images(struct site_table *table, const struct image_set *images)
{
	size_t dropped = 0;

	for (size_t i = 0; i < table->slot_cnt; i++) {
		const struct site_entry *entry = table->slots[i];

		if (!entry || !entry->met || !image_set_has(images, entry->image))
			continue;
		free_entry(table->slots[i]);
		table->slots[i] = NULL;
		dropped++;
	}
	table->cnt -= dropped;
	/* Holes break the probe sequences: lay the rest out anew. Should that fail, entries behind
	 * a hole are made and loaded again, which costs memory and nothing else. */
	if (dropped)
		rehash(table, table->slot_cnt);
}
