/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the blocks that can be reached from roots. Any word that looks like the address of a block
 * is followed, first in roots and then in the blocks reached. Except in machine code, only words at
 * multiples of 8 are seen, and pointers must be stored as plain addresses.
 *
 * The following interior pointers count as pointers to the start of a block: pointers to the first
 * eight bytes (tagged pointers), to the elements of a new[] array after its element count (even if
 * the array is empty), to the text of a string of the old C++ ABI, to data after a leading size,
 * and to a base class subobject.
 *
 * This module does not depend on sites, threads, or the source of the memory.
 */
#ifndef PROOF_MARKING_H
#define PROOF_MARKING_H

#include "proof/block_index.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Address range of root memory, in which whole 8-byte words are searched. Blocks in the range are
 * skipped.
 */
struct root_range {
	uint64_t start;
	uint64_t end;
};

/* Root words that have no address, such as registers. */
struct root_words {
	const uint64_t *words;
	size_t cnt;
};

struct roots {
	const struct root_range *ranges; /* ranges of root memory, in any order */
	size_t range_cnt;
	/* Machine code, where pointers may be at any byte. Must not contain blocks. */
	const struct root_range *code_ranges;
	size_t code_range_cnt;
	const struct root_words *words;
	size_t words_cnt;
	/*
	 * Memory that may or may not be in use. It is scanned after all blocks reachable from the
	 * other roots were marked. From then on, all unjudged blocks (report/heap_block.h) are
	 * roots, too.
	 */
	const struct root_range *late_ranges;
	size_t late_range_cnt;
};

/* Returns true to cancel. Called periodically, from several threads. */
typedef bool marking_stop_fn(void *arg);

struct marking_request {
	const struct memory *memory;
	const struct block_index *index;
	struct roots roots;
	size_t worker_cnt;
	marking_stop_fn *stop; /* NULL: never cancel */
	void *arg;
};

/*
 * Marks all blocks of the index. Returns 0, -ECANCELED if stop() returned true, -ENOMEM, or the
 * error of a failed read. Free ret with marks_deinit() after success.
 */
int marking_run(const struct marking_request *request, struct marks *ret);

#endif
