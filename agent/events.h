/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ordered events for memleak. */
#ifndef AGENT_EVENTS_H
#define AGENT_EVENTS_H

#include "agent/agent.h"

/* Adds an event; fills in its number and thread. lost: counter to increment if there is no room. */
void events_tell(struct account *account, const struct account_event *event,
		 enum account_lost lost);

#endif
