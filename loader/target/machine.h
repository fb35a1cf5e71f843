/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the machine that are read once for the footprints of all processes of a report,
 * because reading them is slow.
 */
#ifndef LOADER_TARGET_MACHINE_H
#define LOADER_TARGET_MACHINE_H

#include "loader/target/orphans.h"

/* A zeroed struct is valid. */
struct machine {
	struct program_list programs;
};

/* Forgets the facts. They are read when a footprint first needs them. */
static inline void machine_begin_report(struct machine *machine)
{
	program_list_deinit(&machine->programs);
}

static inline void machine_deinit(struct machine *machine)
{
	program_list_deinit(&machine->programs);
}

#endif
