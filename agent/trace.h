/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records each allocation and free for --trace, in a ring buffer that is enabled while memleak
 * reads it.
 */
#ifndef AGENT_TRACE_H
#define AGENT_TRACE_H

#include "agent/agent.h"

/* Records an allocation. */
void trace_alloc(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		 uint32_t stack);
/* Records a free. Also records the stack if ACCOUNT_TRACES_STACKS is set. */
void trace_free(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		uint64_t ra, uint64_t sp, uint64_t fp);

static inline bool traces(const struct account *account)
{
	return unlikely(__atomic_load_n(&account->modes, __ATOMIC_RELAXED) & ACCOUNT_TRACES);
}

#endif
