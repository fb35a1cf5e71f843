// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds and names the stack of one event. */
#include "loader/tables/event_stack.h"

#include <errno.h>
#include <stdlib.h>

#include "loader/tables/translate.h"
#include "report/naming.h"

int event_stack_init(const struct tracker *tracker, uint64_t key, struct event_stack *ret)
{
	size_t depth = tracker->stacks.depth;

	*ret = (struct event_stack){
		.stack = calloc(1, sizeof(*ret->stack) + depth * sizeof(uint64_t)),
		.locations = calloc(depth, sizeof(*ret->locations)),
		.site = {.space = tracker->walker.space},
	};
	ret->shown = (struct report_site){.site = &ret->site, .locations = ret->locations};
	if (!ret->stack || !ret->locations)
		return -ENOMEM;
	ret->known = key && stack_table_find(&tracker->stacks, key, ret->stack);
	return 0;
}

void event_stack_deinit(struct event_stack *stack)
{
	free(stack->stack);
	free(stack->locations);
}

int event_stack_name(struct event_stack *stack, const struct tracker *tracker,
		     struct symbol_backend *symbols, const struct process *process,
		     uint64_t deadline_ns)
{
	const struct memleak_stack *found = stack->stack;
	const struct site *site = &stack->site;
	const uint64_t *frames = (const uint64_t *)found->frames;
	size_t skipped = 0;

	if (!stack->known || !found->frame_cnt)
		return 0;
	if (tracker->skip_frames)
		skipped = tracker->skip_frames(tracker->walker.arg, frames, found->frame_cnt);
	stack->site.process = process;
	stack->site.frames = frames + skipped;
	stack->site.frame_cnt = found->frame_cnt - skipped;
	stack->site.end = stack_end_from(found->end);
	if (symbols->prepare(symbols, &site, 1, deadline_ns))
		return -ENOMEM;
	report_site_name(NULL, symbols, NULL, &stack->shown);
	return 0;
}
