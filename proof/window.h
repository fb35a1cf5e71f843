/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of a process's memory that was read, so that what lies beside is there already. */
#ifndef PROOF_WINDOW_H
#define PROOF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"

struct window {
	const struct memory *memory;
	unsigned char *bytes;
	size_t cap;
	uint64_t start; /* what it holds: empty at first */
	uint64_t end;
	uint64_t read_bytes; /* in all */
	int err;             /* why nothing can be read any more */
};

/* cap: what it holds at most, at least a page. 0 or -ENOMEM. */
int window_init(const struct memory *memory, size_t cap, struct window *ret);
void window_deinit(struct window *window);

/*
 * What stands at addr, as far as it can be read, of at most len bytes, but no more than fits. *len:
 * how much there is, a multiple of 8 if addr is one; 0: nothing. ahead: so much is read at once, if
 * anything needs to be.
 */
const void *window_get(struct window *window, uint64_t addr, size_t ahead, size_t *len);

#endif
