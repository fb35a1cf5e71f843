/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of -t, with their stacks for -tt. */
#ifndef LOADER_USER_EVENTS_H
#define LOADER_USER_EVENTS_H

#include "loader/source.h"
#include "loader/user/symbols.h"

struct user_events {
	struct user_symbols *symbols;
	/* set only while the source handles pending data; otherwise NULL */
	const struct event_listener *listener;
};

/*
 * Passes an event to the listener. arg: a struct user_events. process: NULL if the image of the
 * event is gone.
 */
void user_events_pass(void *arg, struct user_process *process, const struct memleak_event *event);

#endif
