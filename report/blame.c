// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Searches a stack for the program's own function to blame, and for the library function that this
 * function called.
 */
#include "report/blame.h"

#include <string.h>

#include "base/prefix.h"
#include "report/allocator_frames.h"
#include "report/kernel_paths.h"
#include "report/own.h"
#include "report/runtime_objects.h"
#include "report/wrapper_names.h"

/* A function of a stack, and the owner of its code. */
struct owned_function {
	struct stack_pos pos;
	const struct sym_location *location;
	const char *symbol; /* name of the function; NULL if it has none */
	enum code_owner owner;
};

bool frame_is_start(const struct sym_location *location)
{
	const char *symbol = location && location->frame_cnt ? location->frames[0].symbol : NULL;

	return symbol && (behind_prefix(symbol, "__libc_start") || !strcmp(symbol, "_start"));
}

static bool is_main(const struct sym_frame *frame)
{
	return frame->symbol && !strcmp(frame->symbol, "main");
}

/*
 * Returns the number of functions at a frame, including inlined ones; 1 for a frame without names.
 */
static size_t function_cnt(const struct report_site *shown, size_t frame)
{
	const struct sym_location *location = shown->locations[frame];

	return location && location->frame_cnt ? location->frame_cnt : 1;
}

static struct owned_function owned_at(const struct options *opts, const struct report_site *shown,
				      struct stack_pos pos)
{
	const struct sym_location *location = shown->locations[pos.frame];
	const struct sym_frame *frame =
		location && location->frame_cnt ? &location->frames[pos.function] : NULL;
	const char *symbol = frame && sym_is_known(frame->symbol) ? frame->symbol : NULL;

	return (struct owned_function){pos, location, symbol,
				       code_owner(opts, &shown->program, location, frame)};
}

/* Moves to the next function outwards. Returns false if only start-up code, or nothing, follows. */
static bool step_out(const struct report_site *shown, struct stack_pos *pos)
{
	if (++pos->function < function_cnt(shown, pos->frame))
		return true;
	*pos = (struct stack_pos){.frame = pos->frame + 1};
	return pos->frame < shown->site->frame_cnt && !frame_is_start(shown->locations[pos->frame]);
}

static bool step_in(const struct report_site *shown, struct stack_pos *pos)
{
	if (pos->function) {
		pos->function--;
		return true;
	}
	if (pos->frame <= shown->first_frame)
		return false;
	pos->frame--;
	pos->function = function_cnt(shown, pos->frame) - 1;
	return true;
}

typedef bool wanted(const struct owned_function *owned);

static bool is_own(const struct owned_function *owned)
{
	return owned->owner == CODE_OF_PROGRAM && owned->symbol &&
	       !function_is_wrapper(owned->symbol);
}

/*
 * True if the code belongs to the program or to an interpreter, which may run the program's
 * scripts.
 */
static bool is_inside_program(const struct owned_function *owned)
{
	return owned->owner == CODE_OF_INTERPRETER || owned->owner == CODE_OF_PROGRAM;
}

static bool is_unnamed_own(const struct owned_function *owned)
{
	return owned->owner == CODE_OF_PROGRAM && !owned->symbol;
}

/* True for a named function of a library or interpreter, unless it is a wrapper. */
static bool is_foreign(const struct owned_function *owned)
{
	return (owned->owner == CODE_OF_LIBRARY || owned->owner == CODE_OF_INTERPRETER) &&
	       owned->symbol && !function_is_wrapper(owned->symbol);
}

/*
 * True for asyncio's function that runs what is due in an event loop, such as the next step of a
 * task. Its callers only run the loop, so they are not to blame for what a task allocates.
 */
static bool is_event_loop(const struct owned_function *owned)
{
	struct script_function script;

	return owned->symbol && script_function_of(owned->symbol, &script) &&
	       script.name_len == strlen("Handle._run") &&
	       !strncmp(script.name, "Handle._run", script.name_len) &&
	       strstr(script.path, "/asyncio/events.py");
}

static bool is_own_or_loop(const struct owned_function *owned)
{
	return is_own(owned) || is_event_loop(owned);
}

/* Searches from a frame outwards for the first function for which is_wanted() is true. */
static bool find(const struct options *opts, const struct report_site *shown, size_t first,
		 wanted *is_wanted, struct owned_function *ret)
{
	struct stack_pos pos = {.frame = first};

	if (first >= shown->site->frame_cnt || frame_is_start(shown->locations[first]))
		return false;
	do {
		*ret = owned_at(opts, shown, pos);
		if (is_wanted(ret))
			return true;
	} while (step_out(shown, &pos));
	return false;
}

/*
 * True if this function belongs to the library of an interpreter, and was called by a program
 * instead of a script.
 */
static bool is_embedded(const struct report_site *shown, const struct owned_function *owned,
			size_t caller)
{
	const struct sym_location *location = shown->locations[caller];

	return owned->owner == CODE_OF_INTERPRETER && module_is_library(owned->location->module) &&
	       location && location->module && *location->module != '[';
}

/*
 * True if a function, called from frame `caller`, counts as a library function: a function of a
 * library or of an embedded interpreter, a named function of the C and C++ runtimes, or a named
 * function of the program that is in a funnel (funnels.h).
 */
static bool is_call(const struct report_site *shown, const struct owned_function *owned,
		    size_t caller)
{
	if (owned->owner == CODE_OF_PROGRAM)
		return owned->symbol && owned->pos.frame < shown->wrapped_frame;
	return owned->owner == CODE_OF_LIBRARY || is_embedded(shown, owned, caller) ||
	       (owned->owner == CODE_OF_RUNTIME && owned->symbol);
}

/*
 * Finds the library function that the function at `pos` called: the nearest library function
 * inwards. If this function has no name, prefers the next named function inwards in the same file.
 * Wrappers, such as strdup() and the standard library of C++, do not count as library functions;
 * the search ends at a named wrapper. Returns false if nothing was found.
 */
static bool find_call(const struct options *opts, const struct report_site *shown,
		      struct stack_pos pos, struct stack_pos *ret)
{
	const char *module = NULL;
	size_t caller = pos.frame;

	while (step_in(shown, &pos)) {
		struct owned_function owned = owned_at(opts, shown, pos);

		if (module && (!owned.location || !owned.location->module ||
			       strcmp(owned.location->module, module)))
			break;
		if (!is_call(shown, &owned, caller))
			continue;
		if (owned.symbol && function_is_wrapper(owned.symbol))
			break;
		if (!module)
			*ret = pos;
		module = owned.location->module;
		if (!owned.symbol)
			continue;
		*ret = pos;
		return true;
	}
	return module;
}

/*
 * True for functions that may be blamed if the stripped program called no library function. A named
 * function of a library further out, such as an event loop, only called the program.
 */
static bool is_unnamed_own_or_foreign(const struct owned_function *owned)
{
	return is_unnamed_own(owned) || is_foreign(owned);
}

/*
 * Returns the function to blame for a stack on which no named function is the program's own. It is
 * the first of these that exists: the library function that the stripped program or the interpreter
 * called; the innermost function that belongs to the program, or is a named function of a library
 * or interpreter; the innermost function.
 */
static struct stack_pos blamed_of_others(const struct options *opts,
					 const struct report_site *shown)
{
	struct stack_pos pos = {.frame = shown->first_frame}, call;
	struct owned_function owned;

	if (find(opts, shown, shown->first_frame, is_inside_program, &owned)) {
		bool has_call = find_call(opts, shown, owned.pos, &call);

		if (has_call && owned_at(opts, shown, call).owner == CODE_OF_LIBRARY)
			return call;
	}
	if (find(opts, shown, shown->first_frame, is_unnamed_own_or_foreign, &owned))
		return owned.pos;
	return pos;
}

/*
 * If a function of an interpreter is blamed, returns the kind of objects that this interpreter
 * allocates; else NULL. An interpreter is blamed only if no function of a script is known.
 */
static const struct runtime_objects *objects_of(const struct options *opts,
						const struct report_site *shown)
{
	struct owned_function owned = {0};

	if (shown->site->frame_cnt && shown->site->kind != KIND_DESCRIPTOR)
		owned = owned_at(opts, shown, shown->blamed);
	return owned.owner == CODE_OF_INTERPRETER ? runtime_objects_of(owned.location->module)
						  : NULL;
}

static bool is_generated(const struct sym_location *location)
{
	return location && location->module && !strcmp(location->module, "[jit]");
}

/*
 * Returns the file that runs the scripts on a stack: the file of the first frame after those of a
 * script, or an interpreter next to generated code. NULL if there is none. A program that contains
 * an interpreter may have any name.
 */
static const char *interpreter_on(const struct report_site *shown)
{
	const char *ret = NULL;

	for (size_t i = 1; !ret && i < shown->site->frame_cnt; i++) {
		const struct sym_location *callee = shown->locations[i - 1];
		const struct sym_location *caller = shown->locations[i];

		if (sym_is_script(callee) && caller && !sym_is_script(caller))
			ret = caller->module;
		else if (is_generated(caller))
			ret = interpreter_file(callee);
		else if (is_generated(callee))
			ret = interpreter_file(caller);
	}
	return ret;
}

/*
 * Returns facts about the program. Its executable is the outermost file on the stack that is not a
 * library.
 */
static struct program program_of(const struct report_site *shown)
{
	const struct process *process = shown->site->process;
	struct program ret = {.name = process ? process->comm : NULL,
			      .interpreter = interpreter_on(shown)};

	for (size_t i = shown->site->frame_cnt; i-- > 0;) {
		const struct sym_location *location = shown->locations[i];
		const char *module = location ? location->module : NULL;

		if (!module || *module == '[' || module_is_library(module))
			continue;
		if (ret.file && strcmp(module, ret.file))
			break;
		ret.file = module;
		for (size_t j = 0; j < location->frame_cnt; j++)
			if (is_main(&location->frames[j]))
				ret.main_source = location->frames[j].file;
	}
	return ret;
}

/*
 * Finds the language runtime that allocated the memory: its file is the first one on the stack
 * after the allocator and the C and C++ libraries. Returns the outermost of the adjacent functions
 * in this file.
 */
static struct stack_pos border_of(const struct options *opts, const struct report_site *shown)
{
	struct stack_pos border = {.frame = shown->first_frame};
	const char *module = NULL;

	for (size_t i = shown->first_frame; i < shown->site->frame_cnt; i++) {
		struct owned_function owned = owned_at(opts, shown, (struct stack_pos){.frame = i});

		if (!module && owned.owner == CODE_OF_RUNTIME)
			continue;
		if (!owned.location || !owned.location->module ||
		    (module && strcmp(owned.location->module, module)))
			break;
		module = owned.location->module;
		border = (struct stack_pos){i, function_cnt(shown, i) - 1};
	}
	return border;
}

/*
 * Blames the function of a chunk pool, which is at frame `blamed_from`. If other functions are
 * inlined there, blames the outermost function.
 */
static void blame_chunk_pool(struct report_site *shown)
{
	size_t frame = shown->blamed_from;

	shown->blamed = (struct stack_pos){frame, function_cnt(shown, frame) - 1};
	shown->has_through = false;
}

/* True if a function of a script is blamed. */
static bool is_in_script(const struct report_site *shown)
{
	return shown->site->frame_cnt && sym_is_script(shown->locations[shown->blamed.frame]);
}

static void blame_within(const struct options *opts, struct report_site *shown)
{
	struct stack_pos border = border_of(opts, shown);

	if (shown->blamed.frame <= border.frame)
		return;
	shown->blamed = border;
	shown->has_through = false;
}

/*
 * Returns the outermost function of a script that the event loop at `pos` called; `pos` if there is
 * none.
 */
static struct stack_pos called_by_loop(const struct report_site *shown, struct stack_pos pos)
{
	struct stack_pos inner = pos;

	while (step_in(shown, &inner))
		if (sym_is_script(shown->locations[inner.frame]))
			return inner;
	return pos;
}

void blame(const struct options *opts, struct report_site *shown)
{
	size_t first = shown->first_frame;
	struct owned_function owned;

	shown->program = program_of(shown);
	shown->has_through = false;
	if (first < shown->wrapped_frame)
		first = shown->wrapped_frame;
	if (first < shown->blamed_from)
		first = shown->blamed_from;
	if (find(opts, shown, first, is_own_or_loop, &owned) ||
	    find(opts, shown, shown->first_frame, is_own_or_loop, &owned)) {
		shown->blamed = is_own(&owned) ? owned.pos : called_by_loop(shown, owned.pos);
		shown->has_through = find_call(opts, shown, shown->blamed, &shown->through);
	} else {
		shown->blamed = blamed_of_others(opts, shown);
		if (!shown->objects)
			shown->objects = objects_of(opts, shown);
	}
	if (shown->chunks.bytes && shown->chunks.function == POOL_AT_FRAME)
		blame_chunk_pool(shown);
	else if (shown->in_pool && !is_in_script(shown))
		blame_within(opts, shown);
}

bool blame_may_name(const struct options *opts, struct report_site *shown, size_t frame)
{
	struct stack_pos pos = {.frame = frame};

	shown->program = program_of(shown);
	if (frame_is_start(shown->locations[frame]) ||
	    frame_is_allocator(shown->site, shown->locations[frame]))
		return false;
	for (; pos.function < function_cnt(shown, frame); pos.function++) {
		struct owned_function owned = owned_at(opts, shown, pos);

		if (is_own(&owned))
			return true;
	}
	return false;
}

static const struct sym_frame *frame_at(const struct report_site *shown, struct stack_pos pos)
{
	const struct sym_location *location = shown->locations[pos.frame];

	return location && location->frame_cnt ? &location->frames[pos.function] : NULL;
}

/*
 * True if the function at `pos` and its callers must not be named as callers of the blamed
 * function.
 */
static bool is_beyond_callers(const struct report_site *shown, struct stack_pos pos)
{
	return (shown->common_callers == CALLERS_ONE && pos.frame > shown->blamed.frame + 1) ||
	       (shown->site->space == SPACE_KERNEL &&
		kernel_frame_is_entry(shown->locations[pos.frame]));
}

bool blame_next_caller(const struct report_site *shown, struct stack_pos *pos)
{
	const struct sym_frame *last = frame_at(shown, *pos);
	bool is_script = is_in_script(shown);

	if (shown->common_callers == CALLERS_NONE)
		return false;
	while (step_out(shown, pos) && !is_beyond_callers(shown, *pos)) {
		const struct sym_frame *frame = frame_at(shown, *pos);

		if (!frame || !sym_is_known(frame->symbol) ||
		    (is_script && !sym_is_script(shown->locations[pos->frame])))
			continue;
		if (is_main(frame))
			return false;
		if (!last || !last->symbol || strcmp(frame->symbol, last->symbol))
			return true;
	}
	return false;
}
