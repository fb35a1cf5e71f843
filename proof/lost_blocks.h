/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides lost blocks into definite ones and indirect ones, which hang from definite ones. */
#ifndef PROOF_LOST_BLOCKS_H
#define PROOF_LOST_BLOCKS_H

#include "proof/block_index.h"
#include "proof/links.h"
#include "proof/marks.h"
#include "proof/memory.h"

/*
 * Marks each lost block that hangs from another lost block as indirect, and sets its holder to the
 * definite block from which it hangs. Makes each definite block its own holder. The caller must
 * have marked all lost blocks as definite. Returns 0 or a negative errno.
 */
int lost_blocks_sort_out(const struct memory *memory, const struct block_index *index,
			 const struct links *links, struct marks *marks);

#endif
