/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts about the machine that are read once for the footprints of all processes of a report,
 * because reading them is slow.
 */
#ifndef LOADER_TARGET_MACHINE_H
#define LOADER_TARGET_MACHINE_H

#include "loader/target/orphans.h"
#include "loader/target/socket_queues.h"
#include "loader/target/tmpfs_files.h"

/* A zeroed struct is valid. */
struct machine {
	struct tmpfs_files tmpfs;
	struct program_list programs;
	struct socket_queues sockets;
};

/* Forgets the facts of the previous report. Facts are read when a footprint first needs them. */
static inline void machine_begin_report(struct machine *machine)
{
	program_list_deinit(&machine->programs);
	socket_queues_deinit(&machine->sockets);
	tmpfs_files_begin_report(&machine->tmpfs);
}

static inline void machine_deinit(struct machine *machine)
{
	program_list_deinit(&machine->programs);
	socket_queues_deinit(&machine->sockets);
	tmpfs_files_deinit(&machine->tmpfs);
}

#endif
