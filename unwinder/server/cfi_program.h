/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes a function's rules by running its call frame instructions once. libdw takes more than
 * ten times as long, since it runs the instructions from the start for each row, and allocates a
 * frame each time. The instructions are hostile input.
 */
#ifndef UNWINDER_SERVER_CFI_PROGRAM_H
#define UNWINDER_SERVER_CFI_PROGRAM_H

#include "unwinder/server/arch.h"
#include "unwinder/server/fde_list.h"

/*
 * Calls row() for each address below `end` at which a new rule begins to apply, in ascending order.
 * From an invalid or unsupported instruction on, the rule is UNKNOWN: not even a frame pointer can
 * be relied on. Returns 0 or an error of row().
 */
int cfi_program_run(const struct unwind_arch *arch, const Dwarf_CIE *cie, const struct fde *fde,
		    uint64_t end, int (*row)(void *arg, uint64_t addr, struct unwind_rule rule),
		    void *arg);

#endif
