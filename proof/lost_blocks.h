/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts unreachable blocks into definite ones and blocks that hang from definite ones. */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Turns definite blocks that another lost block points to into indirect ones, and sets their
 * holders to the definite block they hang from. Returns 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
