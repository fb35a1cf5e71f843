/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts unreachable blocks into definite ones and blocks that hang from definite ones. */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Marks each definite block to which another lost block points as indirect. Sets its holder to the
 * definite block from which it hangs. Returns 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
