/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A chunk: a piece of an allocator's heap. */
#ifndef PROOF_CHUNK_H
#define PROOF_CHUNK_H

#include <stdint.h>

enum chunk_state {
	CHUNK_USED,
	CHUNK_FREE,
	/*
	 * Used by the allocator for itself: its structures, thread caches that are not empty, and
	 * the top chunk of a heap, from which new chunks are cut.
	 */
	CHUNK_OWN,
	/*
	 * Not a chunk, but a part of a heap whose chunks are unknown because the heap changed while
	 * it was read.
	 */
	CHUNK_UNREAD,
};

struct chunk {
	uint64_t addr; /* address that malloc() returned */
	uint64_t size; /* usable bytes, at least as many as were requested */
	enum chunk_state state;
};

#endif
