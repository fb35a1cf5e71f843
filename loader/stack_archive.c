// SPDX-License-Identifier: GPL-2.0-or-later
/* A hash table of stacks. */
#include "loader/stack_archive.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024

void stack_archive_deinit(struct stack_archive *archive)
{
	for (size_t i = 0; i < archive->slot_cnt; i++)
		free(archive->slots[i]);
	free(archive->slots);
	*archive = (struct stack_archive){0};
}

/* Ids are hashes already: their low bits serve as they are. */
static struct archived_stack **find_slot(struct archived_stack **slots, size_t slot_cnt,
					 uint64_t id)
{
	size_t at = id & (slot_cnt - 1);

	while (slots[at] && slots[at]->id != id)
		at = (at + 1) & (slot_cnt - 1);
	return &slots[at];
}

static int grow(struct stack_archive *archive)
{
	size_t slot_cnt = archive->slot_cnt ? archive->slot_cnt * 2 : FIRST_SLOTS;
	struct archived_stack **slots = calloc(slot_cnt, sizeof(struct archived_stack *));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < archive->slot_cnt; i++)
		if (archive->slots[i])
			*find_slot(slots, slot_cnt, archive->slots[i]->id) = archive->slots[i];
	free(archive->slots);
	archive->slots = slots;
	archive->slot_cnt = slot_cnt;
	return 0;
}

int stack_archive_add(struct stack_archive *archive, uint64_t id, const struct memleak_stack *stack)
{
	size_t len = sizeof(*stack) + stack->frame_cnt * sizeof(stack->frames[0]);
	struct archived_stack **slot, *kept;

	if (archive->cnt * 2 >= archive->slot_cnt && grow(archive))
		return -ENOMEM;
	slot = find_slot(archive->slots, archive->slot_cnt, id);
	if (*slot)
		return 0;
	kept = malloc(sizeof(*kept) + len);
	if (!kept)
		return -ENOMEM;
	kept->id = id;
	memcpy(&kept->stack, stack, len);
	*slot = kept;
	archive->cnt++;
	archive->bytes += sizeof(*kept) + len;
	return 0;
}

const struct memleak_stack *stack_archive_find(const struct stack_archive *archive, uint64_t id)
{
	struct archived_stack **slot;

	if (!archive->slot_cnt)
		return NULL;
	slot = find_slot(archive->slots, archive->slot_cnt, id);
	return *slot ? &(*slot)->stack : NULL;
}
