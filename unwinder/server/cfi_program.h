/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of a function by its call frame instructions, run once from their beginning to their
 * end. libdw runs them from the beginning for each row and allocates a frame each time, which
 * takes more than ten times as long; it is for what is rare. Reads hostile bytes.
 */
#ifndef UNWINDER_SERVER_CFI_PROGRAM_H
#define UNWINDER_SERVER_CFI_PROGRAM_H

#include "unwinder/server/arch.h"
#include "unwinder/server/fde_list.h"

/*
 * Calls row for each address in the function from which on a rule holds, in order, up to before
 * end. 0, what row returned if that is not 0, or -ENOTSUP: there are instructions that are left to
 * libdw, and what row was given counts for nothing.
 */
int cfi_program_run(const struct unwind_arch *arch, const Dwarf_CIE *cie, const struct fde *fde,
		    uint64_t end, int (*row)(void *arg, uint64_t addr, struct unwind_rule rule),
		    void *arg);

#endif
