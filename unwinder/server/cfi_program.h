/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computes a function's rules by running its call frame instructions once. libdw takes more than
 * ten times as long, since it runs the instructions from the start for each row, and allocates a
 * frame each time. Therefore libdw is used for rare instructions only. Reads hostile bytes.
 */
#ifndef UNWINDER_SERVER_CFI_PROGRAM_H
#define UNWINDER_SERVER_CFI_PROGRAM_H

#include "unwinder/server/arch.h"
#include "unwinder/server/fde_list.h"

/*
 * Calls row() in order for each address below `end` from which a new rule applies. Returns 0, an
 * error of row(), or -ENOTSUP if an instruction is not supported: then discard the rows and use
 * libdw.
 */
int cfi_program_run(const struct unwind_arch *arch, const Dwarf_CIE *cie, const struct fde *fde,
		    uint64_t end, int (*row)(void *arg, uint64_t addr, struct unwind_rule rule),
		    void *arg);

#endif
