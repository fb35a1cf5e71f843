// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up kernel addresses, and opens the files with the DWARF of the kernel and its modules. */
#include "symbolizer/kernel_space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "symbolizer/kernel_debug.h"
#include "symbolizer/server/demangle.h"

/*
 * True if the location is already filled in with the kernel part and function of `place`. Also true
 * if `place` has no part: the location then keeps its part and function.
 */
static bool is_same(const struct location *loc, const struct kernel_location *place)
{
	if (!place->part)
		return true;
	if (loc->part != place->part)
		return false;
	return !place->symbol ||
	       (loc->own_symbol && loc->own.offset == loc->pub.addr - place->start);
}

/*
 * Creates the module of a kernel part, unless that was tried before, and lists the paths where its
 * debug file may be.
 */
static int open_part(struct kernel_space *space, struct kernel_part *part)
{
	const struct file_version none = {0};
	struct module *file;
	int err;

	if (part->searched)
		return 0;
	part->searched = true;
	if (!part->build_id || !part->start)
		return 0;
	err = module__new(-1, &none, part->name, &file);
	if (err)
		return err;
	file->build_id = strdup(part->build_id);
	err = file->build_id ? 0 : -ENOMEM;
	if (!err)
		err = kernel_debug_find(&space->image.roots, part,
					part == space->image.parts[KALLSYMS_CORE], file);
	if (!err && file->anchor_cnt) {
		err = opened_modules_add(space->modules, file);
		if (!err)
			part->file = file;
	}
	if (!part->file)
		module__free(file);
	return err;
}

static int place_location(struct kernel_space *space, struct location *loc,
			  const struct kernel_location *place)
{
	int err;

	loc->part = place->part;
	loc->pub.module_offset = loc->pub.addr;
	if (!place->part)
		return 0;
	err = open_part(space, place->part);
	if (err)
		return err;
	if (place->part->file && !loc->name) {
		loc->module = place->part->file;
		err = module__name(loc->module, loc->pc, loc->exact, &loc->name);
		if (err)
			return err;
	}
	loc->pub.module = place->part->name;
	loc->pub.build_id = place->part->build_id;
	loc->pub.module_offset -= place->part->start;
	if (!place->symbol)
		return 0;
	loc->own_symbol = demangle(place->symbol);
	if (!loc->own_symbol)
		return -ENOMEM;
	loc->own.symbol = loc->own_symbol;
	loc->own.offset = loc->pub.addr - place->start;
	return 0;
}

static int find_location(struct kernel_space *space, const struct sym_query *query,
			 struct location **ret)
{
	struct location *loc = locations_get(&space->locations, query);
	struct kernel_location place;
	int err = 0;

	if (!loc || loc->generation != space->locations.generation) {
		place = kernel_symtab_find(&space->image,
					   query->exact ? query->addr : query->addr - 1);
		/*
		 * If the location's kernel part was unknown, fill it in now. If the address now
		 * belongs to a different part or function, add a new location instead.
		 */
		if (!loc || (loc->part && !is_same(loc, &place)))
			err = locations_add(&space->locations, query, &loc);
		if (!err && !loc->own_symbol)
			err = place_location(space, loc, &place);
		if (err)
			return err;
		loc->generation = space->locations.generation;
	}
	*ret = loc;
	return 0;
}

static int find_locations(struct kernel_space *space, const struct sym_query *queries, size_t cnt,
			  struct location **ret)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = find_location(space, &queries[i], &ret[i]);
	return err;
}

/*
 * Factor by which the minimum interval between reads of the symbols grows if they cannot be read.
 */
#define HIDDEN_PAUSES 60

static bool may_read(const struct kernel_symtab *image)
{
	uint64_t pause_ns = image->pause_ns * (image->error ? HIDDEN_PAUSES : 1);

	return clock_ns(CLOCK_MONOTONIC) >= image->read_ns + pause_ns;
}

static int read_again(struct kernel_space *space)
{
	space->locations.generation++;
	return kernel_symtab_read(&space->image);
}

/*
 * True if a location has no name, and the symbols have not been read since it was first queried:
 * reading them again may help.
 */
static bool is_unresolved(const struct kernel_symtab *image, const struct location *loc)
{
	return !loc->own_symbol && loc->since_ns >= image->read_ns;
}

int kernel_space_find(struct kernel_space *space, const struct sym_query *queries, size_t cnt,
		      struct location **ret)
{
	bool unresolved = false;
	int err = find_locations(space, queries, cnt, ret);

	for (size_t i = 0; !err && i < cnt; i++)
		unresolved |= is_unresolved(&space->image, ret[i]);
	if (err || !unresolved || space->image.error || !may_read(&space->image))
		return err;
	err = read_again(space);
	return err ? err : find_locations(space, queries, cnt, ret);
}

/*
 * Copies inlined calls and lines from DWARF to the location. The function keeps its name from
 * kallsyms, so that the name is the same with and without a debug file. If kallsyms has no function
 * at the address, DWARF is not used.
 */
int kernel_space_publish(struct location *loc)
{
	const struct name *name = loc->name;
	struct sym_frame *frames, *function;

	if (!name || name->level < NAME_FULL || !loc->own_symbol ||
	    name->frames == loc->published || (name->frame_cnt == 1 && !name->frames[0].file))
		return 0;
	frames = calloc(name->frame_cnt, sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	memcpy(frames, name->frames, name->frame_cnt * sizeof(*frames));
	function = &frames[name->frame_cnt - 1];
	function->symbol = loc->own.symbol;
	function->offset = loc->own.offset;
	free(loc->kernel_frames);
	loc->kernel_frames = frames;
	loc->published = name->frames;
	loc->pub.frames = frames;
	loc->pub.frame_cnt = name->frame_cnt;
	return 0;
}

/*
 * True if any location is in code generated at run time, such as a BPF program. Other code may have
 * replaced it, which only another read of kallsyms would show.
 */
static bool has_made_code(const struct kernel_space *space)
{
	for (size_t i = 0; i < space->locations.cnt; i++)
		if (space->locations.all[i]->part && !space->locations.all[i]->part->end)
			return true;
	return false;
}

int kernel_space_refresh(struct kernel_space *space)
{
	const struct kernel_symtab *image = &space->image;

	if (kernel_symtab_is_stale(image) ||
	    ((image->error || has_made_code(space)) && may_read(image)))
		return read_again(space);
	return 0;
}

void kernel_space_deinit(struct kernel_space *space)
{
	locations_deinit(&space->locations);
	kernel_symtab_deinit(&space->image);
}
