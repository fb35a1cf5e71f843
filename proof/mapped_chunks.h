/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds large blocks that have a mapping of their own, by their chunk headers. */
#ifndef PROOF_MAPPED_CHUNKS_H
#define PROOF_MAPPED_CHUNKS_H

#include <stddef.h>

#include "proof/chunk.h"
#include "proof/heap_reader.h"

struct mapped_chunk {
	/* start of the mapped memory: of the chunk, or of the padding before an aligned chunk */
	uint64_t start;
	uint64_t end;
	struct chunk chunk;
};

struct mapped_chunks {
	struct mapped_chunk *items;
	size_t cnt, cap;
};

/*
 * Adds chunks at the start of anonymous mappings, and chunks that directly follow these chunks.
 * Misses chunks that directly follow other memory, because the kernel merges adjacent mappings.
 * Returns 0 or -ENOMEM.
 */
int mapped_chunks_find(struct heap_reader *reader, struct mapped_chunks *chunks);
int mapped_chunks_add(struct mapped_chunks *chunks, const struct mapped_chunk *chunk);
void mapped_chunks_deinit(struct mapped_chunks *chunks);

#endif
