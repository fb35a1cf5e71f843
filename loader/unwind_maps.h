/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the programs where each process has code, and which unwind table goes with it. */
#ifndef UNWIND_MAPS_H
#define UNWIND_MAPS_H

#include "loader/unwind_files.h"

struct unwind_space_copy;

struct unwind_maps {
	struct unwind_files files;
	int spaces_fd;
	uint16_t generation;
	struct unwind_space_copy *spaces; /* what was told, by process */
	size_t space_cnt;
};

/* tables: whether they are wanted; else only where code is. */
int unwind_maps_init(struct unwind_maps *maps, int arenas_fd, int spaces_fd, bool tables);
void unwind_maps_deinit(struct unwind_maps *maps);

/*
 * Reads what a process, which runs image, maps now; builds tables of new files; tells the
 * programs. A process that has ended stays as it was.
 */
void unwind_maps_refresh(struct unwind_maps *maps, pid_t pid, uint32_t image);

/* What the programs call the mappings that they know of the process; 0: they know none. */
uint32_t unwind_maps_generation(const struct unwind_maps *maps, pid_t pid);

#endif
