/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scans memory for words that point into blocks. Works in batches, so that cache misses overlap. */
#ifndef PROOF_SCAN_H
#define PROOF_SCAN_H

#include <stddef.h>
#include <stdint.h>

#include "proof/block_index.h"
#include "proof/interior.h"
#include "proof/memory.h"
#include "proof/window.h"

/* SCAN_WINDOW_BYTES: maximum bytes per read. SCAN_BATCH: number of pointers looked up together. */
#define SCAN_WINDOW_BYTES (1ULL << 18)
#define SCAN_BATCH 64

struct pointer {
	uint64_t word;
	uint64_t slot; /* address of the word */
	/* index of the block that contains `slot`; NO_BLOCK if a root contains it */
	uint32_t holder;
	/*
	 * index of the block that `word` points to, never `holder`; NO_BLOCK if `holder` has too
	 * many possible pointers (see scan.most)
	 */
	uint32_t block;
	uint32_t offset; /* offset of the pointer's target in the block */
	size_t grain;
};

/* Receives pointers in the order in which they were read. */
typedef void scan_found_fn(void *arg, const struct pointer *pointers, size_t cnt);

struct scan {
	const struct block_index *index;
	struct window window;
	struct interior interior;
	uint64_t address_bits; /* mask of the bits that the processor uses */
	scan_found_fn *found;
	void *arg;
	/*
	 * Maximum number of possible pointers per block. A possible pointer is a word with an
	 * address between the first and the last block. After this number, the rest of the block is
	 * skipped, and a pointer whose field `block` is NO_BLOCK is reported.
	 */
	size_t most;
	size_t seen; /* number of possible pointers seen in the current block */
	struct pointer batch[SCAN_BATCH];
	size_t batch_cnt;
	size_t cluster;
};

/* Prepares a scan. Returns 0 or -ENOMEM. */
int scan_init(const struct memory *memory, const struct block_index *index, scan_found_fn *found,
	      void *arg, struct scan *ret);
void scan_deinit(struct scan *scan);

/*
 * Scans whole words from start to end, skipping unreadable pages. holder: block that contains this
 * memory, NO_BLOCK for root memory; ahead: as for window_get(). Pointers may be reported after the
 * call, at the latest by scan_flush().
 */
void scan_memory(struct scan *scan, uint64_t start, uint64_t end, uint32_t holder, size_t ahead);
/* Scans machine code, where pointers may be at any byte. It must be root memory without blocks. */
void scan_code(struct scan *scan, uint64_t start, uint64_t end);
void scan_word(struct scan *scan, uint64_t word, uint64_t slot);
void scan_flush(struct scan *scan);

/*
 * Scans blocks, which must be sorted by address. Blocks that are close together are read in one
 * step.
 */
void scan_blocks(struct scan *scan, const uint32_t *blocks, size_t cnt);

#endif
