/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stack of one event (-tt), as it is shown. */
#ifndef LOADER_TABLES_EVENT_STACK_H
#define LOADER_TABLES_EVENT_STACK_H

#include "loader/tables/tracker.h"
#include "report/report.h"

struct event_stack {
	bool known; /* else it has no frames */
	struct memleak_stack *stack;
	const struct sym_location **locations;
	struct site site;
	struct report_site shown;
};

/* Finds the stack of this key; 0 is none. Returns 0 or -ENOMEM; ret needs deinit either way. */
int event_stack_init(const struct tracker *tracker, uint64_t key, struct event_stack *ret);
void event_stack_deinit(struct event_stack *stack);

/* Names what was found, and resolved meanwhile. process may be NULL in the kernel. 0 or -ENOMEM. */
int event_stack_name(struct event_stack *stack, const struct tracker *tracker,
		     struct symbol_backend *symbols, const struct process *process,
		     uint64_t deadline_ns);

#endif
