/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds thread-local variables of a program. Those of libraries are not found: the dynamic linker
 * decides at run time where their thread-local blocks are.
 */
#ifndef SYMBOLIZER_SERVER_THREAD_BLOCK_H
#define SYMBOLIZER_SERVER_THREAD_BLOCK_H

#include "symbolizer/server/elf_object.h"

/*
 * Converts the distance of an address from the thread pointer to an offset in the program's PT_TLS
 * segment. If the address is outside the segment, or `machine` (e_machine) is unknown, returns an
 * offset beyond the segment's end.
 */
uint64_t thread_block_offset(const struct thread_part *part, unsigned int machine,
			     uint64_t distance);

#endif
