// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads sites and their stacks from the kernel tables. */
#include "loader/tables/tracker_sites.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "loader/tables/script_frames.h"

/*
 * Returns the hash of a stack as the BPF programs compute it. scripts: the script frames, which
 * were removed from the stack before.
 */
static uint64_t plain_hash(const struct memleak_stack *stack, const struct script_frames *scripts)
{
	uint64_t hash = 0, header;

	for (uint32_t i = 0; i < stack->frame_cnt; i++)
		hash = hash_mix(hash, stack->frames[i]);
	hash = hash_mix(hash, stack->end);
	memcpy(&header, stack, sizeof(header));
	if (stack->unresolved)
		hash = hash_mix(hash, header);
	return script_frames_hash(scripts, hash ? hash : 1);
}

/*
 * Resolves the frames of a site's stack. Unless the stack is still deferred, sets resolved_stack
 * and resolved_id, the stack and the id of the site that gets the sums of this site. If all frames
 * were resolved with certainty, that is the site of the resolved stack; otherwise it is the site of
 * the unresolved stack. The latter is `entry` itself if the stack was never deferred.
 */
static void resolve(struct tracker *tracker, struct site_entry *entry, struct memleak_stack *stack,
		    const struct script_frames *scripts)
{
	uint64_t unresolved = plain_hash(stack, scripts);
	bool sure = tracker->resolve(tracker->walker.arg, entry->image, stack);

	if (entry->deferred)
		return;
	tracker->resolved++;
	stack->unresolved = !sure;
	entry->resolved_stack = sure ? plain_hash(stack, scripts) : unresolved;
	entry->resolved_id = site__id(entry->resolved_stack, entry->image, entry->kind);
}

/* Puts the script frames of a stack between its native frames, and keeps the resulting frames. */
static int keep_merged(const struct tracker *tracker, struct site_entry *entry,
		       const struct memleak_stack *stack, const struct script_frames *scripts)
{
	uint64_t *frames;
	size_t cnt;
	int err = tracker->merge(tracker->walker.arg, entry->image, stack, scripts, &frames, &cnt);

	if (err)
		return err;
	free(entry->frames);
	entry->frames = frames;
	entry->frame_cnt = cnt;
	if (script_frames_are_cut(scripts) && entry->end == UNWIND_END_COMPLETE)
		entry->end = UNWIND_END_TRUNCATED;
	return 0;
}

static int keep_stack(const struct tracker *tracker, struct site_entry *entry,
		      const struct memleak_stack *stack, const struct script_frames *scripts)
{
	size_t skipped = 0;

	entry->end = stack->end < UNWIND_END_CNT ? stack->end : UNWIND_END_UNKNOWN;
	if (tracker->merge && scripts->cnt)
		return keep_merged(tracker, entry, stack, scripts);
	free(entry->frames);
	entry->frames = calloc(stack->frame_cnt + 1, sizeof(uint64_t));
	if (!entry->frames)
		return -ENOMEM;
	memcpy(entry->frames, stack->frames, stack->frame_cnt * sizeof(uint64_t));
	if (tracker->skip_frames)
		skipped =
			tracker->skip_frames(tracker->walker.arg, entry->frames, stack->frame_cnt);
	entry->frame_cnt = stack->frame_cnt - skipped;
	memmove(entry->frames, entry->frames + skipped, entry->frame_cnt * sizeof(uint64_t));
	return 0;
}

/* Reads the frames of a site from its stack. */
static int load_stack(struct tracker *tracker, struct site_entry *entry)
{
	size_t depth = tracker->stacks.depth;
	cleanup_free struct memleak_stack *stack =
		malloc(sizeof(*stack) + depth * sizeof(uint64_t));
	struct script_frames scripts;

	if (!stack)
		return -ENOMEM;
	if (!entry->stack || !stack_table_find(&tracker->stacks, entry->stack, stack))
		return 0;
	entry->deferred = stack->deferred;
	script_frames_take(stack, depth, &scripts);
	if (tracker->resolve && stack->unresolved)
		resolve(tracker, entry, stack, &scripts);
	return keep_stack(tracker, entry, stack, &scripts);
}

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

/*
 * Reads a site from the kernel table. Returns false if the table does not have the site: its image
 * has ended, or the BPF programs never stored this site.
 */
static bool look_up_site(struct tracker *tracker, struct site_entry *entry)
{
	struct memleak_site site;

	if (bpf_map_lookup_elem(tracker->sites_fd, &entry->id, &site))
		return false;
	entry->origin = site.origin;
	entry->image = site.image;
	entry->kind = site.kind & (MEMLEAK_IN_INTERRUPT - 1);
	entry->step = site.kind >> MEMLEAK_STEP_SHIFT;
	entry->interrupt = site.kind & MEMLEAK_IN_INTERRUPT;
	entry->stack = site.stack;
	entry->is_known = true;
	return true;
}

/* Copies the stack of another site, where this image or an ancestor has allocated. */
static int copy_stack(struct site_entry *entry, const struct site_entry *source)
{
	if (!source->loaded)
		return 0;
	entry->deferred = source->deferred;
	entry->resolved_stack = source->resolved_stack;
	entry->resolved_id = site__id(entry->resolved_stack, entry->image, entry->kind);
	return copy_frames(entry, source);
}

static bool is_final(const struct site_entry *entry)
{
	return entry->loaded && !entry->deferred;
}

/*
 * Joins the sites of one stack that have different sampling steps to the site of step 0. A deferred
 * stack belongs to a single site.
 */
static void join_steps(struct site_entry *entry)
{
	if (entry->step && !entry->deferred)
		entry->resolved_id = site__id(entry->resolved_stack, entry->image, entry->kind);
}

/*
 * Reads a site from the kernel tables. Once its stack is no longer deferred, the stack is not read
 * again. For a kernel site, the process that used it last is read in each walk.
 */
static int load_site(struct tracker *tracker, struct site_entry *entry)
{
	struct site_entry *source = entry;
	bool found;
	int err = 0;

	if (is_final(entry) && tracker->walker.space == SPACE_USER)
		return 0;
	found = look_up_site(tracker, entry);
	/*
	 * If the kernel table lacks this site, its stack comes from the site stack_of, which may
	 * itself copy the stack of another site.
	 */
	while (!found && source->stack_of) {
		source = site_table_get(&tracker->walker.sites, source->stack_of);
		if (!source)
			return -ENOMEM;
		found = is_final(source) || look_up_site(tracker, source);
	}
	if (found && !is_final(source)) {
		source->resolved_stack = source->stack;
		source->resolved_id = source->id;
		source->loaded = true;
		err = load_stack(tracker, source);
		join_steps(source);
	}
	return err || source == entry ? err : copy_stack(entry, source);
}

/* Returns a site; reads it from the kernel table if needed. NULL if out of memory. */
static struct site_entry *get_known(struct tracker *tracker, uint64_t site)
{
	struct site_entry *entry = site_table_get(&tracker->walker.sites, site);

	if (entry && !entry->is_known)
		look_up_site(tracker, entry);
	return entry;
}

int tracker_sites_weigh(struct tracker *tracker, uint64_t site, struct block *block)
{
	const struct site_entry *entry = get_known(tracker, site);

	if (!entry)
		return -ENOMEM;
	block->sampled_size = SAMPLED_FOR_CERTAIN;
	if (entry->step && entry->step <= tracker->coarsest_step)
		block->sampled_size = sampled_size_of_step(
			block->size, MEMLEAK_STEP_TIMES(tracker->coarsest_step - entry->step));
	return 0;
}

/* Returns the site with the stack of another site, but with this image and kind. */
static struct site_entry *get_site_with_stack_of(struct tracker *tracker,
						 const struct site_entry *source, uint32_t image,
						 uint32_t kind)
{
	struct site_entry *entry =
		site_table_get(&tracker->walker.sites, site__id(source->stack, image, kind));

	if (!entry || entry->is_known)
		return entry;
	entry->image = image;
	entry->kind = kind;
	entry->stack = source->stack;
	entry->stack_of = source->id;
	entry->is_known = true;
	return entry;
}

struct site_entry *tracker_sites_descendant(struct tracker *tracker, uint64_t site, uint32_t image)
{
	const struct site_entry *source = get_known(tracker, site);

	return source ? get_site_with_stack_of(tracker, source, image, source->kind) : NULL;
}

uint64_t tracker_sites_of_kind(struct tracker *tracker, uint64_t site, uint32_t kind)
{
	const struct site_entry *source = get_known(tracker, site), *same_stack;

	same_stack = source ? get_site_with_stack_of(tracker, source, source->image, kind) : NULL;
	return same_stack ? same_stack->id : 0;
}

/*
 * Sets entry->joined to the site of the resolved stack, creating it if needed. Returns 0 or
 * -ENOMEM.
 */
static int find_resolved(struct tracker *tracker, struct site_entry *entry)
{
	struct site_entry *same = site_table_get(&tracker->walker.sites, entry->resolved_id);
	int err = same ? load_site(tracker, same) : -ENOMEM;

	if (err)
		return err;
	entry->joined = same;
	if (same->loaded)
		return 0;
	same->image = entry->image;
	same->kind = entry->kind;
	same->stack = entry->resolved_stack;
	same->resolved_stack = entry->resolved_stack;
	same->resolved_id = same->id;
	same->is_known = true;
	return copy_frames(same, entry);
}

static int load_and_join(struct tracker *tracker, struct site_entry *entry)
{
	int err = load_site(tracker, entry);

	if (err || !entry->loaded || entry->resolved_id == entry->id)
		return err;
	if (!entry->joined)
		err = find_resolved(tracker, entry);
	/* Look up the joined site in each walk: this resets its sums of earlier walks. */
	if (!err && !site_table_get(&tracker->walker.sites, entry->resolved_id))
		err = -ENOMEM;
	if (!err)
		site_table_join(&tracker->walker.sites, entry->joined, entry);
	return err;
}

int tracker_sites_load(struct tracker *tracker)
{
	struct site_table *table = &tracker->walker.sites;
	cleanup_free struct site_entry **entries = calloc(table->entries.cnt + 1, sizeof(*entries));
	const struct hash_map_slot *slot = NULL;
	size_t cnt = 0;
	int err = 0;

	if (!entries)
		return -ENOMEM;
	/*
	 * Collect the entries first: joining sites adds entries to the table, which moves other
	 * entries.
	 */
	while ((slot = hash_map_next(&table->entries, slot))) {
		struct site_entry *entry = slot->value;

		if (entry->walk == table->walk && (entry->count || entry->left_out.count))
			entries[cnt++] = entry;
	}
	for (size_t i = 0; !err && i < cnt; i++)
		err = load_and_join(tracker, entries[i]);
	return err;
}
