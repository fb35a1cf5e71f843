// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps lists of each exec image's code mappings over time, and uses them to turn addresses in
 * older stacks into files and offsets.
 */
#include "loader/stacks/code_history.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bisect.h"

/* Maximum mappings in all lists. Limits memory if programs keep unloading libraries. */
#define MAPPINGS_MAX (1U << 18)
#define LISTS_MAX 4096

void code_history_deinit(struct code_history *history)
{
	for (size_t i = 0; i < history->cnt; i++)
		free(history->lists[i].mappings);
	free(history->lists);
	free(history->shortened);
	*history = (struct code_history){0};
}

static void remove_list(struct code_history *history, size_t at)
{
	struct code_list *list = &history->lists[at];

	history->mapping_cnt -= list->cnt;
	free(list->mappings);
	array_remove(history->lists, &history->cnt, at);
}

/*
 * Removes the image's list for this unload count. The caller then adds a newer list, which contains
 * all of the removed mappings.
 */
static void remove_same_time(struct code_history *history, uint32_t image, uint32_t unloads)
{
	for (size_t i = history->cnt; i-- > 0;)
		if (history->lists[i].image == image && history->lists[i].unloads == unloads)
			remove_list(history, i);
}

static bool is_shortened(const struct code_history *history, uint32_t image)
{
	for (size_t i = 0; i < history->shortened_cnt; i++)
		if (history->shortened[i] == image)
			return true;
	return false;
}

/* Removes the oldest list, and adds its image to `shortened`. Returns 0 or -ENOMEM. */
static int evict(struct code_history *history)
{
	uint32_t image = history->lists[0].image;

	if (!is_shortened(history, image)) {
		if (array_reserve(&history->shortened, &history->shortened_cap,
				  history->shortened_cnt + 1))
			return -ENOMEM;
		history->shortened[history->shortened_cnt++] = image;
	}
	remove_list(history, 0);
	return 0;
}

void code_history_drop(struct code_history *history, uint32_t image)
{
	for (size_t i = history->shortened_cnt; i-- > 0;)
		if (history->shortened[i] == image)
			array_remove(history->shortened, &history->shortened_cnt, i);
	for (size_t i = history->cnt; i-- > 0;)
		if (history->lists[i].image == image)
			remove_list(history, i);
}

int code_history_add(struct code_history *history, uint32_t image, uint32_t unloads,
		     const struct unwind_mapping *mappings, size_t cnt)
{
	struct unwind_mapping *copy = reallocarray(NULL, cnt + 1, sizeof(*copy));

	if (!copy || array_reserve(&history->lists, &history->cap, history->cnt + 1)) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, mappings, cnt * sizeof(*copy));
	remove_same_time(history, image, unloads);
	history->lists[history->cnt++] = (struct code_list){image, unloads, copy, cnt};
	history->mapping_cnt += cnt;
	while ((history->mapping_cnt > MAPPINGS_MAX || history->cnt > LISTS_MAX) &&
	       history->cnt > 1) {
		int err = evict(history);

		if (err)
			return err;
	}
	return 0;
}

static const struct unwind_mapping *find_mapping(const struct code_list *list, uint64_t addr)
{
	const struct unwind_mapping *first = list && list->cnt ? list->mappings : NULL;
	size_t at;

	if (!first)
		return NULL;
	at = bisect_upto(first, list->cnt, end, addr);
	return at < list->cnt && first[at].start <= addr && addr < first[at].end ? &first[at]
										 : NULL;
}

/*
 * An image's latest list before the unload count of a stack, the list with the same count, and the
 * first list after it; NULL where there is none. Only the low 16 bits of counts are compared, since
 * a stack contains no more.
 */
struct neighbours {
	const struct code_list *before;
	const struct code_list *same;
	const struct code_list *after;
};

static struct neighbours find_neighbours(const struct code_history *history, uint32_t image,
					 uint16_t unloads)
{
	struct neighbours found = {0};

	for (size_t i = 0; i < history->cnt; i++) {
		const struct code_list *list = &history->lists[i];
		int16_t later = (int16_t)(uint16_t)(list->unloads - unloads);

		if (list->image != image)
			continue;
		if (!later)
			found.same = list;
		else if (later < 0)
			found.before = list;
		else if (!found.after)
			found.after = list;
	}
	return found;
}

/*
 * True if at most one unload happened between the lists `before` and `after`. An unload increments
 * the count when it begins and when it ends. A difference of 3 can be the end of one unload and all
 * of a second unload; other code may have been loaded between these two unloads.
 */
static bool is_one_unload(const struct neighbours *lists)
{
	return lists->after->unloads - lists->before->unloads < 3;
}

/* The lists that are used to resolve one stack. */
struct reading {
	struct neighbours lists;
	/*
	 * The list that the BPF program used to walk the stack. NULL if it is `lists.same`, or is
	 * not in the history, for example because it was removed.
	 */
	const struct code_list *known;
	bool is_shortened;  /* true if old lists of the image were removed to limit memory */
	bool is_known_lost; /* true if the list that belongs in `known` was removed */
};

/*
 * The code at an address. `mapping` is NULL if no known code was there; `unsure` is then true if
 * unknown code may have been there.
 */
struct code_place {
	const struct unwind_mapping *mapping;
	bool unsure;
};

static struct code_place find_place(const struct reading *reading, uint64_t addr)
{
	const struct neighbours *lists = &reading->lists;
	const struct unwind_mapping *mapping = find_mapping(lists->same, addr), *before, *after;

	if (mapping)
		return (struct code_place){.mapping = mapping};
	before = find_mapping(lists->before, addr);
	after = find_mapping(lists->after, addr);
	/*
	 * All lists are newer than the stack: assume that code in the oldest of them was already
	 * mapped when the stack was walked.
	 */
	if (after && !lists->same && !lists->before && !reading->is_shortened)
		return (struct code_place){.mapping = after};
	/*
	 * If to_frame is equal in both mappings, they map the same file at the same address, or
	 * neither maps a file.
	 */
	if (before && after && before->to_frame == after->to_frame && is_one_unload(lists))
		return (struct code_place){.mapping = before};
	/*
	 * Code may have been loaded and unloaded between the two lists, so any code may have been
	 * at the address.
	 */
	return (struct code_place){.unsure =
					   lists->before || lists->after || reading->is_shortened};
}

static bool have_same_rules(const struct unwind_mapping *a, const struct unwind_mapping *b)
{
	return a == b || (a->base == b->base && a->granule_cnt == b->granule_cnt &&
			  a->index == b->index && a->arena == b->arena && a->page == b->page);
}

static struct reading begin_reading(const struct code_history *history, uint32_t image,
				    const struct memleak_stack *stack)
{
	struct reading reading = {
		.lists = find_neighbours(history, image, stack->unloads),
		.is_shortened = is_shortened(history, image),
	};

	if (stack->known_unloads != stack->unloads)
		reading.known = find_neighbours(history, image, stack->known_unloads).same;
	reading.is_known_lost =
		stack->known_unloads != stack->unloads && !reading.known && reading.is_shortened;
	return reading;
}

static uint64_t code_address(uint64_t frame)
{
	return MEMLEAK_FRAME_ADDR(frame) - !MEMLEAK_FRAME_IS_EXACT(frame);
}

/*
 * True if the walk may have gone wrong at this frame, so that its callers are unreliable; *ret is
 * then the reason why the stack ends here. Either the walk followed a frame pointer in code that
 * may not keep one, or it may have used the unwind rules of other code.
 */
static bool misled(const struct reading *reading, const struct code_place *place, uint64_t frame,
		   enum unwind_end *ret)
{
	const struct unwind_mapping *taken_for = find_mapping(reading->known, code_address(frame));

	if (frame & MEMLEAK_FRAME_UNKNOWN) {
		*ret = UNWIND_END_NO_CODE;
		return !place->mapping || place->mapping->granule_cnt;
	}
	*ret = UNWIND_END_NO_RULE;
	return reading->is_known_lost ||
	       (taken_for && (!place->mapping || !have_same_rules(taken_for, place->mapping)));
}

bool code_history_resolve(const struct code_history *history, uint32_t image,
			  struct memleak_stack *stack)
{
	const struct reading reading = begin_reading(history, image, stack);
	bool sure = true;

	for (uint16_t i = 0; i < stack->frame_cnt; i++) {
		uint64_t frame = stack->frames[i];
		struct code_place place;
		enum unwind_end end;

		if (MEMLEAK_FRAME_IN_FILE(frame))
			/* resolved by the BPF program, since the frame's mapping is permanent */
			continue;
		stack->frames[i] &= ~MEMLEAK_FRAME_UNKNOWN;
		place = find_place(&reading, code_address(frame));
		if (place.mapping)
			stack->frames[i] += place.mapping->to_frame;
		else if (place.unsure)
			stack->frames[i] |= MEMLEAK_FRAME_UNSURE;
		sure &= !place.unsure;
		if (misled(&reading, &place, frame, &end)) {
			stack->frame_cnt = i + 1;
			stack->end = end;
		}
	}
	return sure;
}

bool code_history_misled(const struct code_history *history, uint32_t image,
			 const struct memleak_stack *stack)
{
	const struct reading reading = begin_reading(history, image, stack);

	for (uint16_t i = 0; i < stack->frame_cnt; i++) {
		struct code_place place;
		enum unwind_end end;

		if (MEMLEAK_FRAME_IN_FILE(stack->frames[i]))
			continue;
		place = find_place(&reading, code_address(stack->frames[i]));
		if (misled(&reading, &place, stack->frames[i], &end))
			return true;
	}
	return false;
}
