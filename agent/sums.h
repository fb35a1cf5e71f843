/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Outstanding bytes and their peak, for --peak, --summary and --stats. Each allocation and each
 * free updates them, so no peak is missed.
 */
#ifndef AGENT_SUMS_H
#define AGENT_SUMS_H

#include "agent/agent.h"

/* Adds a new block to the sums (sums_put), or subtracts a freed one (sums_taken). */
void sums_put(struct account *account, uint64_t size);
void sums_taken(struct account *account, uint64_t size);

/* Adds an allocation to the counters of the calling thread. */
void sums_allocated(uint64_t size);

#endif
