/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The proof of a core: which of the blocks of its heap nothing points to, and who holds the rest.
 */
#ifndef PROOF_CORE_PROOF_H
#define PROOF_CORE_PROOF_H

#include "proof/core_file.h"
#include "proof/marking.h"
#include "report/snapshot.h"

/*
 * heap's blocks are put in order. Fills in what is found of the sites of snap that they are of, and
 * in all. A process that has ended says nothing any more: what is definite is lost. -ECANCELED:
 * stop has said so; another negative errno; nothing is filled in then.
 */
int core_proof_fill(const struct core_file *core, struct heap *heap, marking_stop_fn *stop,
		    void *arg, struct snapshot *snap);

#endif
