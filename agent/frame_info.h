/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds unwind rules in the .eh_frame of a loaded file. Reads only the memory to which the file is
 * loaded.
 */
#ifndef AGENT_FRAME_INFO_H
#define AGENT_FRAME_INFO_H

#include <stdint.h>

#include "bpf/unwind.h"

/*
 * Returns the address of .eh_frame_hdr of the ELF file loaded from `start` to `end`, 0 if there is
 * none.
 */
uint64_t frame_info_header(uint64_t start, uint64_t end);

/* Returns the unwind rule at pc. If there is none, cfa is UNWIND_CFA_NO_ROW. */
struct unwind_rule frame_info_rule(uint64_t header, uint64_t start, uint64_t end, uint64_t pc);

/* Discards the cache of readable pages. Must be called when files may be unmapped. */
void frame_info_forget(void);

#endif
