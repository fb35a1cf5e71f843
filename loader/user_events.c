// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of -t, and with -tt their stacks. */
#include "loader/clock.h"
#include "loader/event_stack.h"
#include "loader/tracker_sites.h"
#include "loader/user_source_impl.h"

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
static int find_stack(struct user_source *source, struct user_process *process,
		      const struct memleak_event *event, struct event_stack *ret)
{
	int err = event_stack_init(&source->tracker, process ? event->stack : 0, ret);

	if (err || !ret->known)
		return err;
	settle(source, process, event, ret->stack);
	return event_stack_name(ret, &source->tracker, &source->symbols, &process->info);
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

	if (with_stack && !find_stack(source, process, event, &stack))
		trace.stack = &stack.shown;
	source->listener->event(source->listener->arg, &trace);
	event_stack_deinit(&stack);
}
