// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads sites and their stacks from the kernel tables. */
#include "loader/tracker_sites.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"

/* The hash of a stack as the programs make it. */
static uint64_t plain_hash(const struct memleak_stack *stack)
{
	uint64_t hash = 0, header;

	for (uint32_t i = 0; i < stack->frame_cnt; i++)
		hash = hash_mix(hash, stack->frames[i]);
	hash = hash_mix(hash, stack->end);
	memcpy(&header, stack, sizeof(header));
	if (stack->unsettled)
		hash = hash_mix(hash, header);
	return hash ? hash : 1;
}

/*
 * Finds out what the frames were. The site is one with those of the same stack: when it is sure
 * what that was, and in any case when only its being late has set it apart.
 */
static void settle(struct tracker *tracker, struct site_entry *entry, struct memleak_stack *stack)
{
	uint64_t unsettled = plain_hash(stack);
	bool sure = tracker->settle(tracker->arg, entry->image, stack);

	tracker->settled++;
	if (entry->late)
		return;
	stack->unsettled = !sure;
	entry->settled_stack = sure ? plain_hash(stack) : unsettled;
	entry->settled_id = site__id(entry->settled_stack, entry->image, entry->kind);
}

static int keep_stack(const struct tracker *tracker, struct site_entry *entry,
		      const struct memleak_stack *stack)
{
	size_t skipped = 0;

	free(entry->frames);
	entry->frames = calloc(stack->frame_cnt + 1, sizeof(uint64_t));
	if (!entry->frames)
		return -ENOMEM;
	memcpy(entry->frames, stack->frames, stack->frame_cnt * sizeof(uint64_t));
	if (tracker->skip_frames)
		skipped = tracker->skip_frames(tracker->arg, entry->frames, stack->frame_cnt);
	entry->frame_cnt = stack->frame_cnt - skipped;
	memmove(entry->frames, entry->frames + skipped, entry->frame_cnt * sizeof(uint64_t));
	entry->end = stack->end < UNWIND_END_CNT ? stack->end : UNWIND_END_UNKNOWN;
	return 0;
}

bool tracker_stack_find(const struct tracker *tracker, uint64_t id, struct memleak_stack *ret)
{
	const struct memleak_stack *archived;

	if (!bpf_map_lookup_elem(tracker->stacks_fd, &id, ret)) {
		if (ret->frame_cnt > tracker->stack_depth)
			ret->frame_cnt = (uint16_t)tracker->stack_depth;
		return true;
	}
	archived = stack_archive_find(&tracker->archive, id);
	if (archived)
		memcpy(ret, archived,
		       sizeof(*ret) + archived->frame_cnt * sizeof(archived->frames[0]));
	return archived != NULL;
}

/* Reads the frames of a site that was not met before. */
static int load_stack(struct tracker *tracker, struct site_entry *entry)
{
	size_t depth = tracker->stack_depth;
	cleanup_free struct memleak_stack *stack =
		malloc(sizeof(*stack) + depth * sizeof(uint64_t));

	if (!stack)
		return -ENOMEM;
	if (!entry->stack || !tracker_stack_find(tracker, entry->stack, stack))
		return 0;
	entry->late = stack->late;
	if (tracker->settle && stack->unsettled)
		settle(tracker, entry, stack);
	return keep_stack(tracker, entry, stack);
}

static int load_heir(struct tracker *tracker, struct site_entry *entry);

static int copy_frames(struct site_entry *entry, const struct site_entry *other)
{
	uint64_t *frames = calloc(other->frame_cnt + 1, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	if (other->frame_cnt)
		memcpy(frames, other->frames, other->frame_cnt * sizeof(*frames));
	free(entry->frames);
	entry->frames = frames;
	entry->frame_cnt = other->frame_cnt;
	entry->end = other->end;
	entry->loaded = true;
	return 0;
}

/* What the kernel tables know of a site; false: nothing, it is gone with its image. */
static bool meet_site(struct tracker *tracker, struct site_entry *entry)
{
	struct memleak_site site;

	if (bpf_map_lookup_elem(tracker->sites_fd, &entry->id, &site))
		return false;
	entry->origin = site.origin;
	entry->image = site.image;
	entry->kind = site.kind & ~MEMLEAK_IN_INTERRUPT;
	entry->interrupt = site.kind & MEMLEAK_IN_INTERRUPT;
	entry->stack = site.stack;
	entry->met = true;
	return true;
}

/* Reads what the kernel tables know of a site: its stack once, who was there last each time. */
static int load_site(struct tracker *tracker, struct site_entry *entry)
{
	if (entry->loaded && !entry->late && tracker->space == SPACE_USER)
		return 0;
	if (!meet_site(tracker, entry))
		return entry->heir_of ? load_heir(tracker, entry) : 0;
	if (entry->loaded && !entry->late)
		return 0;
	entry->settled_stack = entry->stack;
	entry->settled_id = entry->id;
	entry->loaded = true;
	return load_stack(tracker, entry);
}

/* A site where the image has not allocated anything itself. */
static int load_heir(struct tracker *tracker, struct site_entry *entry)
{
	struct site_entry *source = site_table_get(&tracker->sites, entry->heir_of);
	int err = source ? load_site(tracker, source) : -ENOMEM;

	if (err || !source->loaded)
		return err;
	entry->late = source->late;
	entry->settled_stack = source->settled_stack;
	entry->settled_id = site__id(entry->settled_stack, entry->image, entry->kind);
	return copy_frames(entry, source);
}

struct site_entry *tracker_sites_heir(struct tracker *tracker, uint64_t site, uint32_t image)
{
	struct site_entry *source = site_table_get(&tracker->sites, site), *entry;

	if (!source)
		return NULL;
	if (!source->met)
		meet_site(tracker, source);
	entry = site_table_get(&tracker->sites, site__id(source->stack, image, source->kind));
	if (!entry || entry->met)
		return entry;
	entry->image = image;
	entry->kind = source->kind;
	entry->stack = source->stack;
	entry->heir_of = site;
	entry->met = true;
	return entry;
}

/* The site of the same stack that was not unsettled; none may have been met so far. */
static int find_settled(struct tracker *tracker, struct site_entry *entry)
{
	struct site_entry *same = site_table_get(&tracker->sites, entry->settled_id);
	int err = same ? load_site(tracker, same) : -ENOMEM;

	if (err)
		return err;
	entry->joined = same;
	if (same->loaded)
		return 0;
	same->image = entry->image;
	same->kind = entry->kind;
	same->settled_stack = entry->settled_stack;
	same->settled_id = same->id;
	same->met = true;
	return copy_frames(same, entry);
}

static int load_and_join(struct tracker *tracker, struct site_entry *entry)
{
	int err = load_site(tracker, entry);

	if (err || !entry->loaded || entry->settled_id == entry->id)
		return err;
	if (!entry->joined)
		err = find_settled(tracker, entry);
	/* Once more: its sums are of this walk. */
	if (!err && !site_table_get(&tracker->sites, entry->settled_id))
		err = -ENOMEM;
	if (!err)
		site_entry_join(entry->joined, entry);
	return err;
}

int tracker_sites_load(struct tracker *tracker)
{
	struct site_table *table = &tracker->sites;
	cleanup_free struct site_entry **entries = calloc(table->cnt + 1, sizeof(*entries));
	size_t cnt = 0;
	int err = 0;

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < table->slot_cnt; i++) {
		struct site_entry *entry = table->slots[i];

		if (entry && entry->walk == table->walk && entry->count)
			entries[cnt++] = entry;
	}
	for (size_t i = 0; !err && i < cnt; i++)
		err = load_and_join(tracker, entries[i]);
	return err;
}
