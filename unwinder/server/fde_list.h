/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions described by a file's call frame information. */
#ifndef UNWINDER_SERVER_FDE_LIST_H
#define UNWINDER_SERVER_FDE_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* An FDE: the ELF addresses from start to before end, and their frame instructions. */
struct fde {
	uint64_t start;
	uint64_t end;
	bool is_debug;          /* described in .debug_frame, not in .eh_frame */
	uint32_t cie;           /* index of its CIE in fde_list.cies */
	const uint8_t *program; /* its instructions, inside the file's data */
	const uint8_t *program_end;
};

struct fde_list {
	/* sorted by start; for equal starts, .eh_frame first, then the longest */
	struct fde *items;
	size_t cnt;
	size_t cap;
	Dwarf_CIE *cies;
	size_t cie_cnt;
	size_t cie_cap;
};

/*
 * Reads the list from .eh_frame, found by its section or, without sections, by the program header,
 * and from .debug_frame: code compiled without .eh_frame may be described there, even if startup
 * files provide an .eh_frame. Compressed sections are decompressed in place. Unreadable entries are
 * skipped. Returns 0, -ENOENT if the list is empty, or -ENOMEM.
 */
int fde_list_init(Elf *elf, struct fde_list *ret);
void fde_list_deinit(struct fde_list *list);

#endif
