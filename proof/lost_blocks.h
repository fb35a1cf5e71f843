/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts unreachable blocks into definite ones and blocks that hang from definite ones. */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Changes the mark of each block that hangs from another definite block to indirect, and sets its
 * holder to that definite block. Returns 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
