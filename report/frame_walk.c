// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks over frames and, at each frame, over the functions that were inlined there. */
#include "report/frame_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "report/function_name.h"

void frame_walk_begin(struct frame_walk *walk, const struct report_site *shown)
{
	*walk = (struct frame_walk){.shown = shown, .next = shown->site->frame_cnt};
}

bool frame_walk_next(struct frame_walk *walk)
{
	const struct report_site *shown = walk->shown;

	if (walk->left) {
		walk->frame = &walk->location->frames[--walk->left];
		return true;
	}
	if (walk->next <= shown->first_frame)
		return false;
	walk->next--;
	walk->location = shown->locations[walk->next];
	walk->addr = frame_address(shown->site->frames[walk->next], walk->location);
	walk->frame = NULL;
	if (!walk->location || !walk->location->frame_cnt)
		return true;
	walk->left = walk->location->frame_cnt;
	return frame_walk_next(walk);
}

char *frame_file(const struct sym_frame *frame, unsigned int *line)
{
	struct script_function script;

	*line = frame ? frame->line : 0;
	if (!frame)
		return NULL;
	if (frame->file && *frame->file)
		return strdup(frame->file);
	if (!frame->symbol || !script_function_of(frame->symbol, &script))
		return NULL;
	*line = script.line;
	return strndup(script.path, script.path_len);
}

bool frame_walk_blamed(struct frame_walk *walk, const struct report_site *shown)
{
	frame_walk_begin(walk, shown);
	walk->next = shown->site->frame_cnt ? shown->blamed.frame + 1 : 0;
	if (!frame_walk_next(walk))
		return false;
	while (walk->frame && walk->left > shown->blamed.function)
		frame_walk_next(walk);
	return true;
}

bool frame_walk_at(const struct frame_walk *walk, const struct stack_pos *pos)
{
	return walk->next == pos->frame && walk->left == (walk->frame ? pos->function : 0);
}

bool frame_walk_at_blamed(const struct frame_walk *walk)
{
	return frame_walk_at(walk, &walk->shown->blamed);
}

static char *place_name(const struct frame_walk *walk)
{
	const char *module = walk->location ? walk->location->module : NULL;
	const char *slash = module ? strrchr(module, '/') : NULL;
	char *name;
	int len;

	if (module && *module)
		len = asprintf(&name, "%s+0x%" PRIx64, slash && slash[1] ? slash + 1 : module,
			       walk->location->module_offset);
	else if (walk->addr)
		len = asprintf(&name, "0x%" PRIx64, walk->addr);
	else
		return strdup("[unknown]");
	return len < 0 ? NULL : name;
}

/*
 * Returns the name of the current function as raw bytes. If it has no name, returns its module and
 * offset, or else its address. To be freed; NULL if out of memory.
 */
static char *frame_name(const struct frame_walk *walk)
{
	if (walk->frame && sym_is_known(walk->frame->symbol))
		return strdup(walk->frame->symbol);
	return place_name(walk);
}

const char *stack_root(const struct site *site)
{
	const char *comm = site->process ? site->process->comm : "[kernel]";

	return comm && *comm ? comm : "?";
}

const char *frame_missing(const struct site *site)
{
	if (!site->frame_cnt)
		return "[stack not known]";
	if (site->end == STACK_END_UNKNOWN || site->end == STACK_END_COMPLETE)
		return NULL;
	return "[outer frames not known]";
}

static int functions_for_each(const struct report_site *shown, stack_part *part, void *arg)
{
	struct frame_walk walk;
	int err = 0;

	frame_walk_begin(&walk, shown);
	while (!err && frame_walk_next(&walk)) {
		cleanup_free char *name = frame_name(&walk);

		err = name ? part(arg, name, &walk) : -ENOMEM;
	}
	return err;
}

int stack_for_each(const struct report_site *shown, stack_part *part, void *arg)
{
	const struct site *site = shown->site;
	const char *missing = frame_missing(site);
	char kind[32];
	int err = part(arg, stack_root(site), NULL);

	if (!err && missing)
		err = part(arg, missing, NULL);
	if (!err)
		err = functions_for_each(shown, part, arg);
	if (err || site->kind == KIND_HEAP)
		return err;
	snprintf(kind, sizeof(kind), "[%s]", kind_name(site->kind));
	return part(arg, kind, NULL);
}
