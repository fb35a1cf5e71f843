/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A buffer for a piece of a process's memory. Reading nearby memory again then needs no system
 * call.
 */
#ifndef PROOF_WINDOW_H
#define PROOF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"

struct window {
	const struct memory *memory;
	/* the buffer: at least `cap` bytes and one page, at a page boundary */
	unsigned char *pages;
	const unsigned char *bytes; /* where the memory at `start` is in the buffer */
	size_t cap;
	uint64_t start; /* address range in the buffer, initially empty */
	uint64_t end;
	uint64_t read_bytes; /* total bytes read */
	int err;             /* negative errno if no memory can be read any more, else 0 */
};

/* Allocates the buffer. cap: maximum bytes per read, at least a page. Returns 0 or -ENOMEM. */
int window_init(const struct memory *memory, size_t cap, struct window *ret);
void window_deinit(struct window *window);

/*
 * Returns the memory at addr, NULL if it cannot be read. *len: on entry, number of bytes wanted; on
 * return, number of bytes available: as many as wanted, or a smaller multiple of 8. ahead: number
 * of bytes to read into the buffer if it does not contain the wanted memory.
 */
const void *window_get(struct window *window, uint64_t addr, size_t ahead, size_t *len);

#endif
