/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the holders of reachable blocks: for a site, the pointer by which most of its blocks were
 * first reached, the block with this pointer, and so on up to a root.
 */
#ifndef PROOF_HOLDERS_H
#define PROOF_HOLDERS_H

#include "proof/heap_proof.h"

struct holders;

/*
 * Finds the holders of the sites with the most reachable bytes, and of the sites that have grown
 * most. before: number of reachable blocks per site in the previous proof, NULL if there was none.
 * All arguments must outlive ret. Returns 0 or -ENOMEM.
 */
int holders_search(const struct heap_proof *proof, const struct heap_picture *picture,
		   const uint64_t *before, const struct snapshot *snap, struct holders **ret);

/*
 * Fills in held_by of the chosen sites. snap: the snapshot passed to holders_search(). Returns 0 or
 * -ENOMEM.
 */
int holders_fill(const struct holders *holders, struct snapshot *snap);
void holders_free(struct holders *holders);

#endif
