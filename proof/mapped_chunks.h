/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Large blocks, which glibc gives mappings of their own: found by the header that they begin with.
 */
#ifndef PROOF_MAPPED_CHUNKS_H
#define PROOF_MAPPED_CHUNKS_H

#include <stddef.h>

#include "proof/chunk.h"
#include "proof/heap_reader.h"

struct mapped_chunk {
	uint64_t start; /* of the memory that it is all of */
	uint64_t end;
	struct chunk chunk;
};

struct mapped_chunks {
	struct mapped_chunk *items;
	size_t cnt, cap;
};

/*
 * Adds those at the beginnings of anonymous mappings, and those that follow them: the kernel joins
 * mappings, so one behind other memory is not found. Fails only with -ENOMEM.
 */
int mapped_chunks_find(struct heap_reader *reader, struct mapped_chunks *chunks);
int mapped_chunks_add(struct mapped_chunks *chunks, const struct mapped_chunk *chunk);
void mapped_chunks_deinit(struct mapped_chunks *chunks);

#endif
