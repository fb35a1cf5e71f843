/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds unwind rules in a file's .eh_frame in memory. Reads only the memory where the file is
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

/* Returns the unwind rule at pc, NO_ROW if there is none. */
struct unwind_rule frame_info_rule(uint64_t header, uint64_t start, uint64_t end, uint64_t pc);

/* Discards cached readable pages; call when files may be unmapped. */
void frame_info_forget(void);

#endif
