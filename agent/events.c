// SPDX-License-Identifier: GPL-2.0-or-later
/* A ring buffer that never blocks: if it is full, an event is dropped and counted as lost. */
#include "agent/events.h"

void events_add(struct account *account, const struct account_event *event, enum account_lost lost)
{
	uint64_t most = region_bytes(account, ACCOUNT_EVENTS) / sizeof(*event);
	struct account_event *events = region(account, ACCOUNT_EVENTS), *place;
	__u64 at = __atomic_load_n(&account->event_cnt, __ATOMIC_RELAXED);

	do {
		if (at - __atomic_load_n(&account->event_read, __ATOMIC_ACQUIRE) >= most) {
			lose(account, lost);
			return;
		}
	} while (!__atomic_compare_exchange_n(&account->event_cnt, &at, at + 1, true,
					      __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
	place = &events[at % most];
	place->type = event->type;
	place->thread = self.number;
	place->time_ns = event->time_ns;
	place->addr = event->addr;
	place->len = event->len;
	place->stack = event->stack;
	place->flags = event->flags;
	__atomic_store_n(&place->number, at + 1, __ATOMIC_RELEASE);
}
