/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts unreachable blocks into definite ones and blocks that hang from definite ones. */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Changes the mark of a definite block to indirect if another lost block points to it. Sets the
 * holder of such a block to the definite block from which it hangs. Returns 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
