/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the functions begin that call frame information describes. */
#ifndef UNWINDER_FDE_LIST_H
#define UNWINDER_FDE_LIST_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct fde_list {
	uint64_t *starts; /* ELF addresses, sorted; there may be equal ones */
	size_t cnt;
	size_t cap;
};

/*
 * Reads the list from .eh_frame, found by its section or, without sections, by the program
 * header; if there is none, from .debug_frame, when *is_debug becomes true. Returns 0, -ENOENT or
 * -ENOMEM. What cannot be read is left out.
 */
int fde_list_init(Elf *elf, bool *is_debug, struct fde_list *ret);
void fde_list_deinit(struct fde_list *list);

#endif
