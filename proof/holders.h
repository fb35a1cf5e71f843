/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds a chain of holders for each of some sites: the holder of most reachable blocks of the site,
 * the holder of this holder, and so on up to a root. The holder of a block contains the pointer by
 * which the block was first reached.
 */
#ifndef PROOF_HOLDERS_H
#define PROOF_HOLDERS_H

#include "proof/heap_proof.h"

struct holders;

/*
 * Finds the holders for the sites with the most reachable bytes, and for the sites that grew most
 * since the previous proof. before: reachable blocks of each site in that proof, NULL if there was
 * none. All arguments must outlive ret. Returns 0 or -ENOMEM.
 */
int holders_search(const struct heap_proof *proof, const struct heap_picture *picture,
		   const uint64_t *before, const struct snapshot *snap, struct holders **ret);

/*
 * Fills in the field held_by of the sites that holders_search() chose. snap: the snapshot passed to
 * holders_search(). Returns 0 or -ENOMEM.
 */
int holders_fill(const struct holders *holders, struct snapshot *snap);
void holders_free(struct holders *holders);

#endif
