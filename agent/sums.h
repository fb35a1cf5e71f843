/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much is outstanding, and the most that ever was, for --peak, --summary and --stats. It is
 * kept with each call, so no peak is missed.
 */
#ifndef AGENT_SUMS_H
#define AGENT_SUMS_H

#include "agent/agent.h"

/* A block is there, or no more. */
void sums_put(struct account *account, uint64_t size);
void sums_taken(struct account *account, uint64_t size);

/* What a call of this thread has got. */
void sums_allocated(uint64_t size);

#endif
