/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sends events to memleak in the order in which they happened. */
#ifndef AGENT_EVENTS_H
#define AGENT_EVENTS_H

#include "agent/agent.h"

/*
 * Adds an event, and fills in its number and thread. lost: counter to increment if the ring buffer
 * is full.
 */
void events_add(struct account *account, const struct account_event *event, enum account_lost lost);

#endif
