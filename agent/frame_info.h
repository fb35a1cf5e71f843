/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What .eh_frame in memory says of a frame. Nothing outside the file's memory is read. */
#ifndef AGENT_FRAME_INFO_H
#define AGENT_FRAME_INFO_H

#include <stdint.h>

#include "bpf/unwind.h"

/* The address of .eh_frame_hdr of the ELF file that is loaded from start to end; 0: none. */
uint64_t frame_info_header(uint64_t start, uint64_t end);

/* The rule of the instruction at pc. NO_ROW: nothing is said of it. */
struct unwind_rule frame_info_rule(uint64_t header, uint64_t start, uint64_t end, uint64_t pc);

/* Files may be gone. */
void frame_info_forget(void);

#endif
