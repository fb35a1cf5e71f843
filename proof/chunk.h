/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A piece of an allocator's heap, as the program sees it. */
#ifndef PROOF_CHUNK_H
#define PROOF_CHUNK_H

#include <stdint.h>

enum chunk_state {
	CHUNK_USED,
	CHUNK_FREE,
	/*
	 * Of the allocator itself: its structures, the caches of threads that have something, and
	 * the top of a heap, which was never handed out or was joined with it since.
	 */
	CHUNK_OWN,
};

struct chunk {
	uint64_t addr; /* what malloc returned */
	uint64_t size; /* how many bytes the program may use, at least what it asked for */
	enum chunk_state state;
};

#endif
