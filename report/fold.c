// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks outwards over the functions of a stack. If functions are folded together, they are one item
 * of the walk.
 */
#include "report/fold.h"

#include <stdint.h>
#include <string.h>

#include "base/path.h"
#include "report/allocator_frames.h"
#include "report/blame.h"
#include "report/function_name.h"
#include "report/own.h"

/*
 * Number of functions that are not folded in a run of adjacent functions of an interpreter: the
 * innermost ones, not counting the one that called the allocator. The innermost functions may show
 * what the interpreter does; the functions further out only show that it runs a script. If a line
 * of the script is blamed, fewer functions are needed (SPARED_IN_SCRIPT).
 */
#define SPARED 4
#define SPARED_IN_SCRIPT 2

/* Number of functions without names that are not folded on a stack: the innermost ones. */
#define NAMELESS_SHOWN 4

/* Maximum number of functions in the cycle of a recursion that is folded. */
#define PERIOD_MAX 8
/* Minimum number of times that a cycle appears in a row to be folded as a recursion. */
#define TIMES_MIN 3

bool spot_has_symbol(const struct spot *spot)
{
	return spot->frame && sym_is_known(spot->frame->symbol);
}

static bool is_of_script(const struct spot *spot)
{
	struct script_function script;

	return spot_has_symbol(spot) && script_function_of(spot->frame->symbol, &script);
}

struct spot spot_at(const struct report_site *shown, struct stack_pos pos)
{
	const struct sym_location *location = shown->locations[pos.frame];

	return (struct spot){pos, location,
			     location && location->frame_cnt ? &location->frames[pos.function]
							     : NULL};
}

bool spot_next(const struct report_site *shown, struct spot *spot)
{
	struct stack_pos pos = spot->pos;

	if (spot->location && pos.function + 1 < spot->location->frame_cnt)
		pos.function++;
	else
		pos = (struct stack_pos){.frame = pos.frame + 1};
	if (pos.frame >= shown->site->frame_cnt)
		return false;
	*spot = spot_at(shown, pos);
	return true;
}

bool spot_is_at(const struct spot *spot, struct stack_pos pos)
{
	return spot->pos.frame == pos.frame && spot->pos.function == pos.function;
}

static bool is_of_standard_library(const char *symbol)
{
	struct function_name name = function_name_of(symbol);

	return !strncmp(name.whole, "std::", 5) || !strncmp(name.whole, "__gnu_cxx::", 11);
}

/*
 * True for a function of the language's standard library that may be folded: a function of the
 * program's own scripts is blamed, and the walk has passed another script function further in. The
 * innermost script function is not folded, because it shows what is allocated.
 */
static bool is_of_language(const struct fold *fold, const struct spot *spot)
{
	struct script_function script;

	return fold->interpreter && fold->scripted && spot_has_symbol(spot) &&
	       script_function_of(spot->frame->symbol, &script) &&
	       script_is_of_language(script.path);
}

/* True for generated code that has no name: its address says nothing about the program. */
static bool is_nameless_jit(const struct spot *spot)
{
	return spot->location && spot->location->module &&
	       !strcmp(spot->location->module, "[jit]") && !spot_has_symbol(spot);
}

/*
 * True for a function without a name, in a file whose named functions are not folded. Its offset in
 * the file helps only somebody who has the file.
 */
static bool is_nameless(const struct spot *spot)
{
	const char *module = spot->location ? spot->location->module : NULL;

	return sym_is_known(module) && !spot_has_symbol(spot) && !is_nameless_jit(spot) &&
	       !module_is_runtime(module) && !interpreter_of(module);
}

/*
 * If a function may be folded, returns the file that stands for it and its neighbours: the path of
 * its file, "std" for the standard library of C++, or "[jit]" for generated code without names. A
 * script's standard library counts as part of its interpreter. Returns NULL for all other
 * functions.
 */
static const char *inside_of(const struct fold *fold, const struct spot *spot)
{
	const struct report_site *shown = fold->shown;
	const char *module = spot->location ? spot->location->module : NULL;

	if (spot_is_at(spot, shown->blamed) ||
	    (shown->has_through && spot_is_at(spot, shown->through)))
		return NULL;
	if (module && *module && (module_is_runtime(module) || interpreter_of(module)))
		return module;
	if (is_nameless_jit(spot))
		return module;
	if (is_nameless(spot))
		return fold->nameless_cnt < NAMELESS_SHOWN ? NULL : module;
	if (is_of_language(fold, spot))
		return fold->interpreter;
	return spot_has_symbol(spot) && is_of_standard_library(spot->frame->symbol) ? "std" : NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_line(const struct spot *a, const struct spot *b)
{
	return !spot_has_symbol(a) || a->frame->line == b->frame->line;
}

static bool same_function(const struct site *a_site, const struct spot *a,
			  const struct site *b_site, const struct spot *b)
{
	if (spot_has_symbol(a) != spot_has_symbol(b))
		return false;
	if (!spot_has_symbol(a))
		return a_site->frames[a->pos.frame] == b_site->frames[b->pos.frame];
	return same_text(a->frame->symbol, b->frame->symbol) &&
	       same_text(a->frame->file, b->frame->file) &&
	       a->frame->inlined == b->frame->inlined &&
	       same_text(a->location->module, b->location->module);
}

/*
 * True if a function may be folded as part of a recursion: it is neither the blamed function nor
 * the library function that the blamed function called, is no start-up code, and is within the
 * frames to walk.
 */
static bool may_be_hidden(const struct fold *fold, const struct spot *spot)
{
	const struct report_site *shown = fold->shown;

	return spot->pos.frame < fold->end && !frame_is_start(spot->location) &&
	       !spot_is_at(spot, shown->blamed) &&
	       !(shown->has_through && spot_is_at(spot, shown->through));
}

/*
 * Returns how many times in a row the stack has the sequence of `period` functions that begins at
 * `spot`; at least 1. If by_line is true, the source lines must also be equal.
 */
static size_t times_of(const struct fold *fold, struct spot spot, size_t period, bool by_line)
{
	const struct report_site *shown = fold->shown;
	struct spot later = spot;
	size_t cnt = 0;

	for (size_t i = 0; i < period; i++)
		if (!spot_next(shown, &later))
			return 1;
	while (may_be_hidden(fold, &later) &&
	       same_function(shown->site, &spot, shown->site, &later) &&
	       (!by_line || same_line(&spot, &later))) {
		cnt++;
		if (!spot_next(shown, &later))
			break;
		spot_next(shown, &spot);
	}
	return 1 + cnt / period;
}

static struct recursion recursion_by(const struct fold *fold, const struct spot *spot, bool by_line)
{
	for (size_t period = 1; period <= PERIOD_MAX; period++) {
		size_t times = times_of(fold, *spot, period, by_line);

		if (times >= TIMES_MIN)
			return (struct recursion){period, times, !by_line};
	}
	return (struct recursion){0};
}

/*
 * Returns the recursion that begins at `spot`. The innermost call of a recursion is often on a
 * different source line than all other calls. If these other calls are on the same lines in each
 * cycle, the recursion begins at the next function, and not at `spot`.
 */
static struct recursion recursion_at(const struct fold *fold, const struct spot *spot)
{
	struct recursion found = recursion_by(fold, spot, true);
	struct spot next = *spot;

	if (found.period)
		return found;
	found = recursion_by(fold, spot, false);
	if (found.period && spot_next(fold->shown, &next) && recursion_by(fold, &next, true).period)
		return (struct recursion){0};
	return found;
}

/* Moves to the item that stands for all cycles of the recursion after the first cycle. */
static void repeat(struct fold *fold)
{
	const struct recursion *recursion = &fold->recursion;

	fold->repeats = true;
	fold->spot = fold->last;
	fold->cnt = recursion->period * (recursion->times - 1);
	for (size_t i = 1; i < fold->cnt; i++)
		spot_next(fold->shown, &fold->last);
}

/* True for functions whose recursions are shown, instead of being folded with other functions. */
static bool shows_recursion(const struct spot *spot)
{
	return is_of_script(spot) || is_nameless(spot);
}

static bool recurs(const struct fold *fold, const struct spot *spot)
{
	return shows_recursion(spot) && (fold->unique || recursion_at(fold, spot).period);
}

/*
 * Extends the current item to all following functions that inside_of() assigns to the same file, up
 * to `max` functions in total.
 */
static void end_run(struct fold *fold, const char *inside, size_t max)
{
	struct spot next = fold->last;

	while (fold->cnt < max && spot_next(fold->shown, &next)) {
		const char *other = inside_of(fold, &next);

		if (next.pos.frame >= fold->end || frame_is_start(next.location) || !other ||
		    strcmp(other, inside) || recurs(fold, &next))
			break;
		fold->last = next;
		fold->cnt++;
	}
}

/* True if only start-up code of the program or of a thread follows. */
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

const char *fold_file_name(const struct fold *fold)
{
	const struct sym_location *location = fold->spot.location;

	if (location && location->known_as && same_text(location->module, fold->inside))
		return location->known_as;
	return path_name(fold->inside);
}

size_t fold_start(const struct report_site *shown)
{
	size_t frame_cnt = shown->site->frame_cnt, frame = shown->first_frame + 1;

	while (frame < frame_cnt &&
	       !is_start(shown, spot_at(shown, (struct stack_pos){.frame = frame})))
		frame++;
	return frame < frame_cnt ? frame : frame_cnt;
}

/*
 * Counts a function of an interpreter in fold->spared. True if it is one of the interpreter's
 * innermost functions, which are not folded: see SPARED.
 */
static bool is_spared(struct fold *fold, const char *inside)
{
	if (!inside || !interpreter_of(inside))
		return false;
	fold->spared = fold->before && !strcmp(fold->before, inside) ? fold->spared + 1 : 1;
	return fold->spared <= (fold->interpreter ? SPARED_IN_SCRIPT : SPARED);
}

/*
 * Returns the file of the interpreter that runs the blamed function; NULL if the blamed function is
 * not a script's. Also returns NULL if the blamed function is not the program's own: its callers in
 * the standard library then say more than the function itself.
 */
static const char *interpreter_at(const struct report_site *shown)
{
	struct spot blamed = spot_at(shown, shown->blamed);
	const char *found = NULL;

	if (!is_of_script(&blamed) ||
	    code_owner(NULL, &shown->program, blamed.location, blamed.frame) != CODE_OF_PROGRAM)
		return NULL;
	for (size_t i = shown->blamed.frame + 1; !found && i < shown->site->frame_cnt; i++)
		found = interpreter_file(shown->locations[i]);
	for (size_t i = shown->blamed.frame; !found && i-- > 0;)
		found = interpreter_file(shown->locations[i]);
	return found;
}

void fold_begin(struct fold *fold, const struct report_site *shown, size_t end)
{
	*fold = (struct fold){.shown = shown, .end = end};
	if (shown->blamed.frame < shown->site->frame_cnt)
		fold->interpreter = interpreter_at(shown);
}

/*
 * Begins the walk at the function that called the allocator, which is never folded. Returns false
 * if the stack has no such function.
 */
static bool begin(struct fold *fold)
{
	const struct report_site *shown = fold->shown;

	fold->begun = true;
	fold->cnt = 1;
	if (shown->first_frame >= shown->site->frame_cnt)
		return false;
	fold->spot = fold->last = spot_at(shown, (struct stack_pos){.frame = shown->first_frame});
	fold->nameless_cnt = is_nameless(&fold->spot);
	return true;
}

/*
 * Moves to the item that begins with the next function: the function alone, or several functions
 * that are folded together.
 */
static void take(struct fold *fold)
{
	const char *inside = inside_of(fold, &fold->last);
	bool by_cycle = shows_recursion(&fold->last);

	fold->spot = fold->last;
	fold->scripted |= is_of_script(&fold->last);
	if ((!inside || by_cycle) && !fold->unique) {
		fold->recursion = recursion_at(fold, &fold->spot);
		fold->unique = fold->recursion.period;
	}
	if (by_cycle && fold->unique)
		inside = NULL;
	if (inside && (fold->scripted || !is_spared(fold, inside)))
		end_run(fold, inside, fold->unique ? fold->unique : SIZE_MAX);
	fold->inside = fold->cnt > 1 ? inside : NULL;
	fold->nameless = fold->inside && is_nameless(&fold->spot);
	fold->nameless_cnt += !fold->inside && is_nameless(&fold->spot);
	fold->before = inside;
	fold->unique -= fold->unique ? fold->cnt : 0;
}

bool fold_next(struct fold *fold)
{
	bool is_repeat = fold->recursion.period && !fold->unique && !fold->repeats;

	if (!fold->begun)
		return begin(fold);
	fold->inside = NULL;
	fold->nameless = false;
	fold->cnt = 1;
	if (fold->repeats)
		fold->recursion = (struct recursion){0};
	fold->repeats = false;
	if (!spot_next(fold->shown, &fold->last))
		return false;
	fold->at_start = is_start(fold->shown, fold->last);
	if (fold->at_start || fold->last.pos.frame >= fold->end)
		return false;
	if (is_repeat)
		repeat(fold);
	else
		take(fold);
	return true;
}

/*
 * Compares two runs of the same length. True if their script functions, and their functions without
 * names, are the same.
 */
static bool same_run(const struct fold *a, const struct fold *b)
{
	struct spot x = a->spot, y = b->spot;

	for (size_t i = 0; i < a->cnt; i++) {
		if ((shows_recursion(&x) || shows_recursion(&y)) &&
		    !same_function(a->shown->site, &x, b->shown->site, &y))
			return false;
		spot_next(a->shown, &x);
		spot_next(b->shown, &y);
	}
	return true;
}

static bool same_item(const struct fold *a, const struct fold *b)
{
	if (a->repeats || b->repeats)
		return a->repeats == b->repeats && a->recursion.period == b->recursion.period;
	if (a->inside || b->inside)
		return same_text(a->inside, b->inside) && a->cnt == b->cnt && same_run(a, b);
	return same_function(a->shown->site, &a->spot, b->shown->site, &b->spot) &&
	       same_line(&a->spot, &b->spot) &&
	       spot_is_at(&a->spot, a->shown->blamed) == spot_is_at(&b->spot, b->shown->blamed);
}

bool fold_same(const struct report_site *a, const struct report_site *b)
{
	struct fold x, y;
	bool recursive = false, more;

	fold_begin(&x, a, a->site->frame_cnt);
	fold_begin(&y, b, b->site->frame_cnt);
	do {
		more = fold_next(&x);
		if (fold_next(&y) != more || (more && !same_item(&x, &y)))
			return false;
		recursive |= x.repeats;
	} while (more);
	return recursive;
}
