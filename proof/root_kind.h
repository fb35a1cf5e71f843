/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classifies root memory by its mapping and by the stack pointers of threads. */
#ifndef PROOF_ROOT_KIND_H
#define PROOF_ROOT_KIND_H

#include "proof/heap_proof.h"

/* Returns the thread whose stack is in the mapping, NULL if no such thread is known. */
const struct thread_state *root_thread(const struct heap_picture *picture,
				       const struct mapping *mapping);

/* If the mapping contains variables of a file, returns a mapping of this file, else NULL. */
const struct mapping *root_file(const struct heap_picture *picture, const struct mapping *mapping);

enum holder_kind root_kind(const struct heap_picture *picture, uint64_t addr);

/* How well a root identifies the owner of a pointer. */
enum root_hint {
	ROOT_HINT_NONE,
	/*
	 * data of an allocator or of the C library: says nothing about the owner, and is not
	 * searched
	 */
	ROOT_HINT_RUNTIME,
	ROOT_HINT_WEAK, /* the root is used only if no other holder is found */
	ROOT_HINT_GOOD,
};

enum root_hint root_hint(const struct heap_picture *picture, uint64_t addr);

/* True if a process runs CPython. */
bool root_is_python(const struct proc_maps *maps);

#endif
