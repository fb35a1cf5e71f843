/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of -t, and with -tt their stacks. */
#ifndef LOADER_USER_EVENTS_H
#define LOADER_USER_EVENTS_H

#include "loader/source.h"
#include "loader/user/symbols.h"

struct user_events {
	struct user_symbols *symbols;
	const struct event_listener *listener; /* NULL: nobody listens at present */
};

/* Tells the listener. arg: the events; process: NULL if its image is no more. */
void user_events_tell(void *arg, struct user_process *process, const struct memleak_event *event);

#endif
