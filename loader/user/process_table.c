// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An array of processes, and a hash table by exec image number. A lookup rebuilds the hash table if
 * processes or images have changed.
 */
#include "loader/user/process_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64

/*
 * Returns the first slot to try for an image. The number of slots is a power of two, and at least
 * half of the slots are empty.
 */
static size_t slot_of(const struct process_table *table, uint32_t image)
{
	return (image * 0x9e3779b1U) & (table->slot_cnt - 1);
}

static int grow_slots(struct process_table *table)
{
	size_t cnt = table->slot_cnt ? table->slot_cnt * 2 : SLOTS_MIN;
	struct user_process **slots = calloc(cnt, sizeof(struct user_process *));

	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->slot_cnt = cnt;
	return 0;
}

int process_table_add(struct process_table *table, struct user_process *process)
{
	struct user_process **grown =
		reallocarray(table->items, table->cnt + 1, sizeof(struct user_process *));

	if (!grown)
		return -ENOMEM;
	table->items = grown;
	if (2 * (table->cnt + 1) > table->slot_cnt && grow_slots(table))
		return -ENOMEM;
	grown[table->cnt++] = process;
	table->changed = true;
	return 0;
}

void process_table_remove(struct process_table *table, size_t at)
{
	user_process__free(table->items[at]);
	table->items[at] = table->items[--table->cnt];
	table->changed = true;
}

void process_table_change(struct process_table *table)
{
	table->changed = true;
}

static void fill_slots(struct process_table *table)
{
	memset(table->slots, 0, table->slot_cnt * sizeof(struct user_process *));
	for (size_t i = 0; i < table->cnt; i++) {
		size_t at = slot_of(table, table->items[i]->info.image);

		while (table->slots[at])
			at = (at + 1) & (table->slot_cnt - 1);
		table->slots[at] = table->items[i];
	}
	table->changed = false;
}

struct user_process *process_table_find(struct process_table *table, uint32_t image)
{
	struct user_process *found;

	if (!table->cnt)
		return NULL;
	if (table->changed)
		fill_slots(table);
	for (size_t at = slot_of(table, image); (found = table->slots[at]);
	     at = (at + 1) & (table->slot_cnt - 1))
		if (found->info.image == image)
			return found;
	return NULL;
}

struct user_process *process_table_find_pid(const struct process_table *table, pid_t pid)
{
	for (size_t i = 0; i < table->cnt; i++)
		if (table->items[i]->info.pid == pid && !table->items[i]->ended)
			return table->items[i];
	return NULL;
}

void process_table_deinit(struct process_table *table)
{
	for (size_t i = 0; i < table->cnt; i++)
		user_process__free(table->items[i]);
	free(table->items);
	free(table->slots);
	*table = (struct process_table){0};
}
