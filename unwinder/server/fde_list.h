/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions described by a file's call frame information. */
#ifndef UNWINDER_SERVER_FDE_LIST_H
#define UNWINDER_SERVER_FDE_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * An FDE: its call frame instructions are for the ELF addresses from `start` to `end` (exclusive).
 */
struct fde {
	uint64_t start;
	uint64_t end;
	bool is_debug;          /* true if the FDE is in .debug_frame, false if in .eh_frame */
	uint32_t cie;           /* index of the FDE's CIE in fde_list.cies */
	const uint8_t *program; /* instructions of this FDE; valid until elf_end() */
	const uint8_t *program_end;
};

struct fde_list {
	/*
	 * sorted by start; FDEs with equal start: those of .eh_frame first, then the longest first
	 */
	struct fde *items;
	size_t cnt;
	size_t cap;
	Dwarf_CIE *cies;
	size_t cie_cnt;
	size_t cie_cap;
};

/*
 * Reads the FDEs of .eh_frame and .debug_frame. Finds .eh_frame by section, or by program header if
 * there is no such section. Always reads .debug_frame, too: code compiled without .eh_frame may be
 * described there, even in a file whose startup code has .eh_frame. Decompresses sections in place.
 * Skips unreadable FDEs. Returns 0, -ENOENT if there are no readable FDEs, or -ENOMEM.
 */
int fde_list_init(Elf *elf, struct fde_list *ret);
void fde_list_deinit(struct fde_list *list);

#endif
