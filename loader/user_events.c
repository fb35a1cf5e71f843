// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of -t, and with -tt their stacks. */
#include <stdlib.h>

#include "loader/clock.h"
#include "loader/tracker_sites.h"
#include "loader/user_source_impl.h"

/* A line is printed once: its names are waited for. */
#define NAMING_BUDGET_MS 10000

struct event_stack {
	struct memleak_stack *stack;
	const struct sym_location **locations;
	struct site site;
	struct report_site shown;
};

static void event_stack_deinit(struct event_stack *stack)
{
	free(stack->stack);
	free(stack->locations);
}

/* What the stack was, as far as can be known by now. */
static void settle(struct user_source *source, struct user_process *process,
		   const struct memleak_event *event, struct memleak_stack *stack)
{
	if (stack->late) {
		stack_copies_drain(&source->copies);
		user_records__finish_stacks(source, SIZE_MAX);
		tracker_stack_find(&source->tracker, event->stack, stack);
	}
	if (!stack->unsettled)
		return;
	if (process->read_ns < event->time_ns)
		user_process__refresh(&source->ctx, process);
	user_snapshot__settle(source, event->image, stack);
}

/* An event whose stack is not known has one without frames. */
static int event_stack_init(struct user_source *source, struct user_process *process,
			    const struct memleak_event *event, struct event_stack *ret)
{
	size_t depth = source->tracker.stack_depth;
	struct symbol_backend *symbols = &source->symbols;
	const struct site *site = &ret->site;
	struct memleak_stack *stack;

	*ret = (struct event_stack){
		.stack = calloc(1, sizeof(*stack) + depth * sizeof(uint64_t)),
		.locations = calloc(depth, sizeof(*ret->locations)),
		.shown = {.site = &ret->site},
	};
	stack = ret->stack;
	if (!stack || !ret->locations)
		return -1;
	ret->shown.locations = ret->locations;
	if (!process || !event->stack || !tracker_stack_find(&source->tracker, event->stack, stack))
		return 0;
	settle(source, process, event, stack);
	ret->site = (struct site){
		.process = &process->info,
		.frames = (const uint64_t *)stack->frames,
		.frame_cnt = stack->frame_cnt,
		.end = stack->end < UNWIND_END_CNT ? stack->end : UNWIND_END_UNKNOWN,
	};
	if (symbols->prepare(symbols, &site, 1, NAMING_BUDGET_MS))
		return -1;
	report_site_name(symbols, &ret->shown);
	return 0;
}

void user_events__tell(struct user_source *source, struct user_process *process,
		       const struct memleak_event *event)
{
	bool with_stack = source->ctx.opts->trace > 1;
	struct event_stack stack = {0};
	struct trace_event trace = {
		.wall_ns = clock_wall_of(event->time_ns),
		.is_free = event->type == MEMLEAK_EVENT_FREE,
		.pid = (pid_t)event->tgid,
		.tid = (pid_t)event->tid,
		.comm = process ? process->info.comm : "?",
		.function = process ? user_process__function(&source->ctx, process, event->function)
				    : NULL,
		.addr = event->addr,
		.size = event->size,
	};

	if (with_stack && !event_stack_init(source, process, event, &stack))
		trace.stack = &stack.shown;
	source->listener->event(source->listener->arg, &trace);
	event_stack_deinit(&stack);
}
