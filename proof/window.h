/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A buffered piece of a process's memory, so that nearby reads need no system call. */
#ifndef PROOF_WINDOW_H
#define PROOF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "proof/memory.h"

struct window {
	const struct memory *memory;
	unsigned char *bytes;
	size_t cap;
	uint64_t start; /* start of the buffered range, initially empty */
	uint64_t end;
	uint64_t read_bytes; /* total bytes read */
	int err;             /* why no memory can be read any more, 0 if it can */
};

/* Allocates the buffer of cap bytes, at least a page. Returns 0 or -ENOMEM. */
int window_init(const struct memory *memory, size_t cap, struct window *ret);
void window_deinit(struct window *window);

/*
 * Returns memory at addr, NULL if none can be read. *len: in, wanted bytes, limited by the buffer
 * size; out, available bytes, a multiple of 8 if less than wanted. ahead: bytes to read at once if
 * a read is needed.
 */
const void *window_get(struct window *window, uint64_t addr, size_t ahead, size_t *len);

#endif
