/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads memory of the program that may not be mapped. Each page is checked before it is read. */
#ifndef AGENT_READABLE_H
#define AGENT_READABLE_H

#include "agent/agent.h"
#include "agent/system.h"

#define READABLE_PAGE 4096ULL
#define READABLE_SETS 32U
#define READABLE_WAYS 4U

/*
 * Cache of pages found readable. They are not checked again, although some may have been unmapped
 * since: the agent does not see the C library shrink its heap, or raw system calls. This is
 * harmless while the agent reads only the state of the calling thread, its frames and their code
 * objects. CPython does not free these while the thread uses them, unless the program deletes the
 * state of a thread that still runs, which CPython forbids.
 *
 * The cache must not be used where pointers may be torn or stale: in signal handlers, and while
 * CPython ends.
 */
struct readable {
	uint64_t generation;
	/*
	 * Addresses of readable pages, in a set-associative cache; 0 in unused places. With one
	 * way, the few dozen pages of a stack's frames and code would often collide, and each
	 * collision costs a system call.
	 */
	uint64_t pages[READABLE_SETS][READABLE_WAYS];
};

static inline void readable_begin(struct readable *readable, uint64_t generation)
{
	readable->generation = generation;
	__builtin_memset(readable->pages, 0, sizeof(readable->pages));
}

static inline uint64_t *readable_set(struct readable *readable, uint64_t page)
{
	return readable->pages[page / READABLE_PAGE % READABLE_SETS];
}

/*
 * Searches all ways of a set except the first. If the page is in none, checks it, and makes it the
 * first way. False if the page is not readable.
 */
static __attribute__((noinline, unused)) bool readable_search(uint64_t *set, uint64_t page)
{
	for (uint32_t i = 1; i < READABLE_WAYS; i++)
		if (set[i] == page)
			return true;
	if (!system_is_readable(page))
		return false;
	for (uint32_t i = READABLE_WAYS - 1; i > 0; i--)
		set[i] = set[i - 1];
	set[0] = page;
	return true;
}

static ALWAYS_INLINE bool readable_page(struct readable *readable, uint64_t page)
{
	uint64_t *set = readable_set(readable, page);

	if (unlikely(!page))
		return false;
	/* The known part of the thread's own stack stays mapped. */
	return set[0] == page || (page >= self.low && page < self.high) ||
	       readable_search(set, page);
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
