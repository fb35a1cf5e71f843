/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which build of a file a process had mapped, by what its core has of that file. */
#ifndef PROOF_CORE_BUILD_ID_H
#define PROOF_CORE_BUILD_ID_H

#include "proof/memory.h"

#define CORE_BUILD_ID_MAX 64

/*
 * The build id in lower-case hex, of the file whose begin is mapped there. 0 or -ENOENT: it has
 * none, or the core has too little of the file.
 */
int core_build_id(const struct memory *memory, const struct mapping *begin,
		  char ret[2 * CORE_BUILD_ID_MAX + 1]);

#endif
