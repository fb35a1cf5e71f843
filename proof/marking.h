/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which blocks can be reached from roots: words of memory that look like addresses of blocks are
 * followed, from the roots through the blocks. Outside machine code, words that stand at no
 * multiple of eight are not seen, nor are pointers that are not stored as addresses.
 *
 * What counts as a pointer to the begin although it is to the interior: to one of the first eight
 * bytes, where programs keep tags; behind the length of an array of new[], even at the end of one
 * without elements, of a string of the old C++ ABI, and of a block that begins with its size; to a
 * base class.
 *
 * Knows nothing of sites, threads or where memory is read from.
 */
#ifndef PROOF_MARKING_H
#define PROOF_MARKING_H

#include "proof/block_index.h"
#include "proof/marks.h"
#include "proof/memory.h"

/* Memory to begin with: what of it lies in blocks is left out. Whole words. */
struct root_range {
	uint64_t start;
	uint64_t end;
};

/* Words to begin with that stand nowhere in memory, such as registers. */
struct root_words {
	const uint64_t *words;
	size_t cnt;
};

struct roots {
	const struct root_range *ranges; /* any order */
	size_t range_cnt;
	/* The same of machine code, whose pointers stand at any byte. No blocks lie there. */
	const struct root_range *code_ranges;
	size_t code_range_cnt;
	const struct root_words *words;
	size_t words_cnt;
	/*
	 * What is begun with once all that the others reach is known: nobody knows whether it is in
	 * use. Blocks that are not judged, and have not been reached by then, belong to it.
	 */
	const struct root_range *late_ranges;
	size_t late_range_cnt;
};

/* Asked now and then, by several threads: whether to give up. */
typedef bool marking_stop_fn(void *arg);

struct marking_request {
	const struct memory *memory;
	const struct block_index *index;
	struct roots roots;
	size_t worker_cnt;
	marking_stop_fn *stop; /* NULL: never */
	void *arg;
};

/* -ECANCELED: stop has said so; -ENOMEM; or why memory cannot be read any more. */
int marking_run(const struct marking_request *request, struct marks *ret);

#endif
