/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of functions that call frame information describes. */
#ifndef UNWINDER_SERVER_FDE_LIST_H
#define UNWINDER_SERVER_FDE_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* One description: what section says of the ELF addresses from start to before end. */
struct fde {
	uint64_t start;
	uint64_t end;
	bool is_debug;          /* of .debug_frame */
	uint32_t cie;           /* index of what it begins with */
	const uint8_t *program; /* its instructions, in the file's data */
	const uint8_t *program_end;
};

struct fde_list {
	struct fde *items; /* by start; with the same start, entries of .eh_frame first, then the
			      longest */
	size_t cnt;
	size_t cap;
	Dwarf_CIE *cies;
	size_t cie_cnt;
	size_t cie_cap;
};

/*
 * Reads the list from .eh_frame, found by its section or, without sections, by the program
 * header, and from .debug_frame: what was compiled without the one may have the other, when
 * .eh_frame still has the functions of the startup files. A compressed section is decompressed in
 * place. Returns 0, -ENOENT or -ENOMEM. What cannot be read is left out.
 */
int fde_list_init(Elf *elf, struct fde_list *ret);
void fde_list_deinit(struct fde_list *list);

#endif
