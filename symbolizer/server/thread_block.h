/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds thread-local variables of a program. Variables of libraries are not found: the dynamic
 * linker places their thread-local blocks at run time, and the files do not show where.
 */
#ifndef SYMBOLIZER_SERVER_THREAD_BLOCK_H
#define SYMBOLIZER_SERVER_THREAD_BLOCK_H

#include "symbolizer/server/elf_object.h"

/*
 * Converts a distance from the thread pointer to an offset in the program's PT_TLS segment. For an
 * address outside the segment, or on an unknown machine, returns an offset beyond the segment's
 * end.
 */
uint64_t thread_block_offset(const struct thread_part *part, unsigned int machine,
			     uint64_t distance);

#endif
