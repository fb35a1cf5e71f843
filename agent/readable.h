/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads memory of the program that may not be mapped. Each page is checked before it is read. */
#ifndef AGENT_READABLE_H
#define AGENT_READABLE_H

#include "agent/agent.h"
#include "agent/system.h"

#define READABLE_PAGE 4096ULL
#define READABLE_PAGES 32U

/* Pages that were found readable, and are not checked again. */
struct readable {
	uint64_t generation;
	uint64_t pages[READABLE_PAGES]; /* cache by page number; 0 if unused */
};

static inline void readable_begin(struct readable *readable, uint64_t generation)
{
	readable->generation = generation;
	for (uint32_t i = 0; i < READABLE_PAGES; i++)
		readable->pages[i] = 0;
}

static inline bool readable_page(struct readable *readable, uint64_t page)
{
	uint64_t *known = &readable->pages[page / READABLE_PAGE % READABLE_PAGES];

	/* The known part of the thread's own stack stays mapped. */
	if ((page >= self.low && page < self.high) || (page && page == *known))
		return true;
	if (!page || !system_is_readable(page))
		return false;
	*known = page;
	return true;
}

/* Copies memory. Returns false unless all bytes can be read. */
static ALWAYS_INLINE bool readable_copy(struct readable *readable, uint64_t addr, void *to,
					size_t len)
{
	uint64_t first = addr & ~(READABLE_PAGE - 1),
		 last = (addr + len - 1) & ~(READABLE_PAGE - 1);

	if (last < first)
		return false;
	for (uint64_t page = first; page <= last; page += READABLE_PAGE)
		if (!readable_page(readable, page))
			return false;
	__builtin_memcpy(to, (const void *)addr, len);
	return true;
}

#endif
