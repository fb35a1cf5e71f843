// SPDX-License-Identifier: GPL-2.0-or-later
/* Buffers a piece of a process's memory. */
#include "proof/window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096

int window_init(const struct memory *memory, size_t cap, struct window *ret)
{
	size_t size = cap + PAGE_BYTES - cap % PAGE_BYTES + PAGE_BYTES;

	*ret = (struct window){
		.memory = memory, .cap = cap, .pages = aligned_alloc(PAGE_BYTES, size)};
	return ret->pages ? 0 : -ENOMEM;
}

void window_deinit(struct window *window)
{
	free(window->pages);
	memset(window, 0, sizeof(*window));
}

/*
 * Reads memory into the buffer, up to the end of a page: the rest of a page costs little, and is
 * often needed next. Puts the memory at the same offset in a page as in the process, because the
 * kernel then copies two to three times as fast.
 */
static void load(struct window *window, uint64_t addr, size_t len)
{
	unsigned char *to = window->pages + addr % PAGE_BYTES;
	ssize_t got;

	len += -(addr + len) % PAGE_BYTES;
	if (len > window->cap)
		len = window->cap;
	got = window->memory->ops->read(window->memory, addr, to, len);
	if (got < 0) {
		window->err = (int)got;
		got = 0;
	}
	window->bytes = to;
	window->start = addr;
	window->end = addr + (uint64_t)got;
	window->read_bytes += (uint64_t)got;
}

const void *window_get(struct window *window, uint64_t addr, size_t ahead, size_t *len)
{
	uint64_t wanted = *len, left;

	if (addr < window->start || addr >= window->end ||
	    (wanted > window->end - addr && wanted <= window->cap)) {
		if (window->err) {
			*len = 0;
			return NULL;
		}
		load(window, addr, wanted > ahead ? wanted : ahead);
	}
	left = window->end - addr;
	if (left < wanted)
		*len = left & ~7ULL;
	return *len ? window->bytes + (addr - window->start) : NULL;
}
