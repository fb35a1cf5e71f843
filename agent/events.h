/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What memleak is told in the order in which it happens. */
#ifndef AGENT_EVENTS_H
#define AGENT_EVENTS_H

#include "agent/agent.h"

/* Adds an event, whose number and thread are filled in; lost: what counts it without room. */
void events_tell(struct account *account, const struct account_event *event,
		 enum account_lost lost);

#endif
