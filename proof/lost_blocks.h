/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of blocks that cannot be reached: which are the roots of what is lost, and what hangs from them.
 */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Makes those of the definite blocks indirect to which another one points, and has their holders
 * say from which definite block they hang. 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
