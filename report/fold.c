// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks outwards over the functions of a stack, and over runs of them as one. */
#include "report/fold.h"

#include <string.h>

#include "report/allocator_frames.h"
#include "report/blame.h"
#include "report/function_name.h"
#include "report/own.h"

/*
 * Of an interpreter the innermost functions may tell what it does, others only that it runs, as do
 * those between functions of a script.
 */
#define SPARED 4

bool spot_has_symbol(const struct spot *spot)
{
	return spot->frame && sym_is_known(spot->frame->symbol);
}

static bool is_of_script(const struct spot *spot)
{
	struct script_function script;

	return spot_has_symbol(spot) && script_function_of(spot->frame->symbol, &script);
}

struct spot spot_at(const struct report_site *shown, struct place place)
{
	const struct sym_location *location = shown->locations[place.frame];

	return (struct spot){place, location,
			     location && location->frame_cnt ? &location->frames[place.function]
							     : NULL};
}

bool spot_next(const struct report_site *shown, struct spot *spot)
{
	struct place place = spot->place;

	if (spot->location && place.function + 1 < spot->location->frame_cnt)
		place.function++;
	else
		place = (struct place){.frame = place.frame + 1};
	if (place.frame >= shown->site->frame_cnt)
		return false;
	*spot = spot_at(shown, place);
	return true;
}

bool spot_is_at(const struct spot *spot, struct place place)
{
	return spot->place.frame == place.frame && spot->place.function == place.function;
}

static bool is_of_standard_library(const char *symbol)
{
	struct function_name name = function_name_of(symbol);

	return !strncmp(name.whole, "std::", 5) || !strncmp(name.whole, "__gnu_cxx::", 11);
}

/* What a run of functions is of that nobody wants to read one by one; NULL: it is read. */
static const char *inside_of(const struct report_site *shown, const struct spot *spot)
{
	const char *module = spot->location ? spot->location->module : NULL;

	if (spot_is_at(spot, shown->blamed) ||
	    (shown->has_through && spot_is_at(spot, shown->through)))
		return NULL;
	if (module && *module && (module_is_runtime(module) || interpreter_of(module)))
		return module;
	return spot_has_symbol(spot) && is_of_standard_library(spot->frame->symbol) ? "std" : NULL;
}

/* Goes to the last function from here on that is inside of the same. */
static void end_run(struct fold *fold, const char *inside)
{
	struct spot next = fold->last;

	while (spot_next(fold->shown, &next)) {
		const char *other = inside_of(fold->shown, &next);

		if (next.place.frame >= fold->end || frame_is_start(next.location) || !other ||
		    strcmp(other, inside))
			break;
		fold->last = next;
		fold->cnt++;
	}
}

/* Whether nothing follows but what is the same in each program: what calls main, or a thread. */
static bool is_start(const struct report_site *shown, struct spot spot)
{
	do {
		if (frame_is_start(spot.location))
			return true;
		if (!spot.location || !spot.location->module ||
		    !module_is_runtime(spot.location->module) || spot_is_at(&spot, shown->blamed))
			return false;
	} while (spot_next(shown, &spot));
	return true;
}

/* Whether it is an interpreter's, of which only few in a row have been come to. */
static bool is_spared(struct fold *fold, const char *inside)
{
	if (!inside || !interpreter_of(inside))
		return false;
	fold->spared = fold->before && !strcmp(fold->before, inside) ? fold->spared + 1 : 1;
	return fold->spared <= SPARED;
}

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end)
{
	*fold = (struct fold){.shown = shown, .end = end};
}

/* The first function is told whatever it is: it called the allocator. */
static bool begin(struct fold *fold)
{
	const struct report_site *shown = fold->shown;

	fold->begun = true;
	fold->cnt = 1;
	if (shown->first_frame >= shown->site->frame_cnt)
		return false;
	fold->spot = fold->last = spot_at(shown, (struct place){.frame = shown->first_frame});
	return true;
}

bool fold_next(struct fold *fold)
{
	const char *inside;

	if (!fold->begun)
		return begin(fold);
	fold->inside = NULL;
	fold->cnt = 1;
	if (!spot_next(fold->shown, &fold->last))
		return false;
	fold->at_start = is_start(fold->shown, fold->last);
	if (fold->at_start || fold->last.place.frame >= fold->end)
		return false;
	fold->spot = fold->last;
	inside = inside_of(fold->shown, &fold->spot);
	fold->scripted |= is_of_script(&fold->spot);
	if (inside && (fold->scripted || !is_spared(fold, inside)))
		end_run(fold, inside);
	fold->inside = fold->cnt > 1 ? inside : NULL;
	fold->before = inside;
	return true;
}
