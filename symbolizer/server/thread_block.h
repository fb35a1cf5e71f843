/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the thread-local variables of a program lie. Those of libraries lie where the dynamic
 * linker found room, which no file tells.
 */
#ifndef SYMBOLIZER_SERVER_THREAD_BLOCK_H
#define SYMBOLIZER_SERVER_THREAD_BLOCK_H

#include "symbolizer/server/elf_object.h"

/*
 * The offset in the part that each thread has a copy of, of what lies so far from the thread
 * pointer. What is not in the part, also on a machine that is not known, has an offset behind it.
 */
uint64_t thread_block_offset(const struct thread_part *part, unsigned int machine,
			     uint64_t distance);

#endif
