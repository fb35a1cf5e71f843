/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the free memory in the pools of CPython's allocator, from version 3.10 on. Knows nothing
 * of objects.
 */
#ifndef PROOF_PYTHON_FREE_H
#define PROOF_PYTHON_FREE_H

#include <stdint.h>

#include "proof/memory.h"

/*
 * Returns the free bytes, in pages that were written to, of the pools in anonymous memory. A lower
 * bound if there is too much memory to search. Pools that Python has never used do not count.
 */
uint64_t python_free_bytes(const struct memory *memory);

#endif
