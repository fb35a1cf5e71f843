// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns events of the BPF programs into events for the listener, with stacks for -tt. */
#include "loader/user/events.h"

#include "base/clock.h"
#include "loader/tables/event_stack.h"

/* Finishes an event's stack if it is deferred, and resolves its frames to files and offsets. */
static void resolve(struct process_set *set, struct user_process *process,
		    const struct memleak_event *event, struct memleak_stack *stack)
{
	if (stack->deferred) {
		deferred_stacks_consume(&set->programs->deferred);
		process_set_finish_stacks(set, SIZE_MAX);
		stack_table_find(&set->programs->tracker.stacks, event->stack, stack);
	}
	if (!stack->unresolved)
		return;
	if (process->read_ns < event->time_ns)
		user_process__refresh(&set->programs->ctx, process);
	process_set_resolve(set, event->image, stack);
}

/* Finds the stack of an event and the names of its frames. An unknown stack has no frames. */
static int find_stack(struct user_symbols *symbols, struct user_process *process,
		      const struct memleak_event *event, struct event_stack *ret)
{
	struct process_set *set = symbols->set;
	const struct tracker *tracker = &set->programs->tracker;
	int err = event_stack_init(tracker, process ? event->stack : 0, ret);

	if (err || !ret->known)
		return err;
	resolve(set, process, event, ret->stack);
	return event_stack_name(ret, tracker, &symbols->backend, &process->info,
				set->programs->ctx.deadline_ns);
}

void user_events_pass(void *arg, struct user_process *process, const struct memleak_event *event)
{
	struct user_events *events = arg;
	const struct user_context *ctx = &events->symbols->set->programs->ctx;
	struct event_stack stack = {0};
	struct trace_event trace = {
		.wall_ns = clock_wall_of(event->time_ns),
		.is_free = event->type == MEMLEAK_EVENT_FREE,
		.pid = (pid_t)event->tgid,
		.tid = (pid_t)event->tid,
		.comm = process ? process->info.comm : "?",
		.addr = event->addr,
		.size = event->size,
	};

	if (!events->listener)
		return;
	if (process)
		trace.function = user_process__function(ctx, process, event->function);
	if (ctx->opts->trace > 1 && !find_stack(events->symbols, process, event, &stack))
		trace.stack = &stack.shown;
	events->listener->event(events->listener->arg, &trace);
	event_stack_deinit(&stack);
}
