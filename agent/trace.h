/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --trace: each allocation and free, in a ring that is switched on when somebody reads it. */
#ifndef AGENT_TRACE_H
#define AGENT_TRACE_H

#include "agent/agent.h"

/* A block has come, whose stack is known, */
void trace_alloc(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		 uint32_t stack);
/* or goes: the stack of who frees it is walked if that is wanted. */
void trace_free(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		uint64_t ra, uint64_t sp, uint64_t fp);

static inline bool traces(const struct account *account)
{
	return unlikely(__atomic_load_n(&account->ways, __ATOMIC_RELAXED) & ACCOUNT_TRACES);
}

#endif
