// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes offsets in thread-local storage by the ABI of each machine, and with the alignment rules
 * of glibc and musl.
 */
#include "symbolizer/server/thread_block.h"

#include <elf.h>

/*
 * Size, in bytes, of the header to which the thread pointer of aarch64 points. The program's
 * thread-local block follows this header.
 */
#define HEAD_BYTES 16

static uint64_t round_up(uint64_t value, uint64_t align)
{
	return (value + align - 1) & ~(align - 1);
}

uint64_t thread_block_offset(const struct thread_part *part, unsigned int machine,
			     uint64_t distance)
{
	uint64_t align = part->align & (part->align - 1) ? 1 : part->align, first, offset;

	if (!align)
		align = 1;
	/*
	 * The loader places the block so that its address is congruent to p_vaddr modulo `align`.
	 */
	first = -part->vaddr & (align - 1);
	if (machine == EM_X86_64) {
		offset = part->bytes > first ? part->bytes - first : 0;
		return distance + round_up(offset, align) + first;
	}
	if (machine == EM_AARCH64) {
		offset = round_up(HEAD_BYTES, align);
		if (offset - HEAD_BYTES < first)
			offset += align;
		return distance - offset + first;
	}
	return UINT64_MAX;
}
