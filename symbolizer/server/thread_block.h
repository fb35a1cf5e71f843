/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds thread-local variables of a program. Libraries' blocks are placed at run time by the
 * dynamic linker, which their files do not show.
 */
#ifndef SYMBOLIZER_SERVER_THREAD_BLOCK_H
#define SYMBOLIZER_SERVER_THREAD_BLOCK_H

#include "symbolizer/server/elf_object.h"

/*
 * Converts a distance from the thread pointer to an offset in the program's PT_TLS segment. For
 * addresses outside the segment, or on an unknown machine, the offset is beyond its end.
 */
uint64_t thread_block_offset(const struct thread_part *part, unsigned int machine,
			     uint64_t distance);

#endif
