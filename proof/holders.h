/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who holds what is reachable: for a site the pointer that most of its blocks were first reached
 * by, the block that has that pointer, the pointer that this was reached by, and so on up to a
 * root.
 */
#ifndef PROOF_HOLDERS_H
#define PROOF_HOLDERS_H

#include "proof/heap_proof.h"

struct holders;

/*
 * Looks for the holders of the sites of a heap that have most that is reachable, and of those of
 * which that has grown most. before: reachable blocks of each site in the last proof, NULL: none
 * was made. All outlive ret. 0 or -ENOMEM.
 */
int holders_search(const struct heap_proof *proof, const struct heap_picture *picture,
		   const uint64_t *before, const struct snapshot *snap, struct holders **ret);

/* Fills in held_by of these sites; snap is the same. 0 or -ENOMEM. */
int holders_fill(const struct holders *holders, struct snapshot *snap);
void holders_free(struct holders *holders);

#endif
