/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads memory and finds the words in it that point into blocks, many at a time, so that what one
 * waits for is fetched while others are looked at. Knows nothing of what is made of them.
 */
#ifndef PROOF_SCAN_H
#define PROOF_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/interior.h"
#include "proof/memory.h"
#include "proof/window.h"

/* So much is read at once; and so many pointers are looked at together. */
#define SCAN_WINDOW_BYTES (1ULL << 18)
#define SCAN_BATCH 64

struct pointer {
	uint64_t word;
	uint64_t slot;   /* where it stands */
	uint32_t holder; /* the block that it stands in; NO_BLOCK: it is a root */
	uint32_t block;  /* another, into which it points, or NO_BLOCK: see most */
	uint32_t offset; /* so far from its begin */
	size_t grain;
};

/* Takes pointers, in the order in which they were read. */
typedef void scan_found_fn(void *arg, const struct pointer *pointers, size_t cnt);

struct scan {
	const struct block_index *index;
	struct window window;
	struct interior interior;
	uint64_t address_bits; /* of words: those that the processor looks at */
	scan_found_fn *found;
	void *arg;
	/*
	 * A block's words are looked at until so many may be pointers; one to NO_BLOCK then says
	 * that the rest was left out.
	 */
	size_t most;
	size_t seen; /* of these */
	struct pointer batch[SCAN_BATCH];
	size_t batch_cnt;
	size_t cluster;
};

/* 0 or -ENOMEM. */
int scan_init(const struct memory *memory, const struct block_index *index, scan_found_fn *found,
	      void *arg, struct scan *ret);
void scan_deinit(struct scan *scan);

/*
 * Whole words from start to end, as far as they can be read. ahead: as for window_get(). What was
 * found may be told of later, by scan_flush() at last.
 */
void scan_memory(struct scan *scan, uint64_t start, uint64_t end, uint32_t holder, size_t ahead);
/* The same of machine code, which is root memory without blocks: words stand at any byte. */
void scan_code(struct scan *scan, uint64_t start, uint64_t end);
void scan_word(struct scan *scan, uint64_t word, uint64_t slot);
void scan_flush(struct scan *scan);

/*
 * What blocks point to; in the order of their addresses. Those that lie close together are read at
 * once.
 */
void scan_blocks(struct scan *scan, const uint32_t *blocks, size_t cnt);

#endif
