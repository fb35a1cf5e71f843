// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds up the outstanding blocks when a debugger calls memleak_totals(), so that allocator calls
 * need not maintain a total. Skips pages of the account that are not resident, as reading untouched
 * pages would allocate memory; blocks in swapped pages are therefore missing.
 */
#include <sys/syscall.h>

#include "agent/agent.h"
#include "agent/system.h"

#define PAGE 4096ULL
#define PAGES_AT_ONCE 512U

struct memleak_totals {
	uint64_t bytes;
	uint64_t blocks;
};

static unsigned char resident[PAGES_AT_ONCE];

static void add_cell(const struct account_cell *cell, struct memleak_totals *totals)
{
	uint64_t block = __atomic_load_n(&cell->block, __ATOMIC_RELAXED);

	totals->bytes += ACCOUNT_CELL_SIZE(block);
	totals->blocks += block != 0;
}

/* False if the offset is in the last 16 bytes of a spill, which hold other fields, not a cell. */
static bool is_cell(const struct account *account, uint64_t at)
{
	const uint64_t spills = account->region[ACCOUNT_SPILLS];

	return at < spills || at >= account->region[ACCOUNT_CHUNKS] ||
	       (at - spills) % sizeof(struct account_spill) < offsetof(struct account_spill, next);
}

static void add_page(const struct account *account, uint64_t at, struct memleak_totals *totals)
{
	for (uint64_t i = at; i < at + PAGE; i += sizeof(struct account_cell))
		if (is_cell(account, i))
			add_cell((const struct account_cell *)((const char *)account + i), totals);
}

/* Adds the cells between two offsets in the account, both multiples of the page size. */
static void add_pages(const struct account *account, uint64_t from, uint64_t to,
		      struct memleak_totals *totals)
{
	for (uint64_t part; from < to; from += part) {
		part = to - from < PAGES_AT_ONCE * PAGE ? to - from : PAGES_AT_ONCE * PAGE;
		if (system_call(SYS_mincore, (long)account + (long)from, (long)part, (long)resident,
				0, 0, 0))
			continue;
		for (uint64_t i = 0; i < part / PAGE; i++)
			if (resident[i] & 1)
				add_page(account, from + i * PAGE, totals);
	}
}

__attribute__((visibility("default"), used)) struct memleak_totals memleak_totals(void)
{
	const struct account *account = gate.account;
	struct memleak_totals totals = {0};
	uint64_t spills, chunks;

	if (!account)
		return totals;
	spills = account->region[ACCOUNT_SPILLS];
	chunks = account->region[ACCOUNT_CHUNKS];
	add_pages(account, spills,
		  spills + ((account->spill_cnt * sizeof(struct account_spill) + PAGE - 1) &
			    ~(PAGE - 1)),
		  &totals);
	for (uint64_t i = 0; i < account->chunk_cnt; i++, chunks += sizeof(struct account_chunk))
		add_pages(account, chunks, chunks + offsetof(struct account_chunk, spills),
			  &totals);
	return totals;
}
