/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What root memory is: by what is mapped there, and which threads have their stack there. */
#ifndef PROOF_ROOT_KIND_H
#define PROOF_ROOT_KIND_H

#include "proof/heap_proof.h"

/* The thread that has its stack in the mapping; NULL: none is known. */
const struct thread_state *root_thread(const struct heap_picture *picture,
				       const struct mapping *mapping);

/* The file that has the variables there; NULL: none. */
const struct mapping *root_file(const struct heap_picture *picture, const struct mapping *mapping);

enum holder_kind root_kind(const struct heap_picture *picture, uint64_t addr);

/* How much that says of who has a pointer. */
enum root_telling {
	ROOT_TELLS_NOTHING,
	ROOT_IS_RUNTIME,   /* less than nothing */
	ROOT_TELLS_LITTLE, /* it is something, if there is nobody else */
	ROOT_TELLS,
};

enum root_telling root_telling(const struct heap_picture *picture, uint64_t addr);

/* Whether a process runs CPython. */
bool root_is_python(const struct proc_maps *maps);

#endif
