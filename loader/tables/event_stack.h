/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds and names the stack of one event, for -tt. */
#ifndef LOADER_TABLES_EVENT_STACK_H
#define LOADER_TABLES_EVENT_STACK_H

#include "loader/tables/tracker.h"
#include "report/report.h"

struct event_stack {
	bool known; /* false if the stack was not found; then it has no frames */
	struct memleak_stack *stack;
	const struct sym_location **locations;
	struct site site;
	struct report_site shown;
};

/*
 * Finds the stack with this key; key 0 means that there is no stack. Returns 0 or -ENOMEM. Call
 * event_stack_deinit() even on failure.
 */
int event_stack_init(const struct tracker *tracker, uint64_t key, struct event_stack *ret);
void event_stack_deinit(struct event_stack *stack);

/*
 * Names the frames of the stack. If the stack is unresolved, the caller resolves it first. process:
 * NULL for kernel stacks. Returns 0 or -ENOMEM.
 */
int event_stack_name(struct event_stack *stack, const struct tracker *tracker,
		     struct symbol_backend *symbols, const struct process *process,
		     uint64_t deadline_ns);

#endif
