// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring buffer that never blocks: if it is full, a traced call is dropped and counted as lost. */
#include "agent/trace.h"

#include "agent/stacks.h"
#include "agent/system.h"

static void add_traced(struct account *account, const struct account_traced *traced)
{
	uint64_t most = region_bytes(account, ACCOUNT_TRACE) / sizeof(*traced);
	struct account_traced *place;
	__u64 at = __atomic_load_n(&account->traced_cnt, __ATOMIC_RELAXED);

	do {
		if (at - __atomic_load_n(&account->traced_read, __ATOMIC_ACQUIRE) >= most) {
			lose(account, ACCOUNT_LOST_TRACED);
			return;
		}
	} while (!__atomic_compare_exchange_n(&account->traced_cnt, &at, at + 1, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	place = (struct account_traced *)region(account, ACCOUNT_TRACE) + at % most;
	place->time_ns = system_ns();
	place->addr = traced->addr;
	place->size = traced->size;
	place->stack = traced->stack;
	place->thread = self.number;
	place->call = traced->call;
	place->flags = traced->flags;
	__atomic_store_n(&place->number, at + 1, __ATOMIC_RELEASE);
}

void trace_alloc(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		 uint32_t stack)
{
	add_traced(account, &(struct account_traced){
				    .addr = addr, .size = size, .stack = stack, .call = call});
}

void trace_free(struct account *account, enum account_call call, uint64_t addr, uint64_t size,
		uint64_t ra, uint64_t sp, uint64_t fp)
{
	struct account_traced traced = {.addr = addr,
					.size = size,
					.stack = ACCOUNT_NO_STACK,
					.call = call,
					.flags = ACCOUNT_TRACED_FREE};

	if (__atomic_load_n(&account->modes, __ATOMIC_RELAXED) & ACCOUNT_TRACES_STACKS)
		traced.stack = stacks_find(account, &(struct caller){ra, sp, fp});
	add_traced(account, &traced);
}
