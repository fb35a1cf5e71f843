/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the build id of a mapped file from the part of the file that a core contains. */
#ifndef PROOF_CORE_BUILD_ID_H
#define PROOF_CORE_BUILD_ID_H

#include "proof/memory.h"

#define CORE_BUILD_ID_MAX 64

/*
 * Writes the build id in lower-case hex. Returns 0, or -ENOENT if the file has no build id or the
 * core contains too little of the file. begin: the mapping with the start of the file.
 */
int core_build_id(const struct memory *memory, const struct mapping *begin,
		  char ret[2 * CORE_BUILD_ID_MAX + 1]);

#endif
