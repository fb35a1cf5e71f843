/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the programs where each process has code, and which unwind table goes with it. */
#ifndef UNWIND_MAPS_H
#define UNWIND_MAPS_H

#include "loader/code_history.h"
#include "loader/publisher.h"
#include "loader/unwind_files.h"

struct unwind_space_copy;

struct unwind_maps {
	struct unwind_files files;
	struct publisher *publisher;
	int spaces_fd;
	int targets_fd;
	volatile uint32_t *stamp;
	uint32_t generation;
	struct unwind_space_copy *spaces; /* what was told, by process */
	size_t space_cnt;
	struct code_history history;
};

struct unwind_maps_fds {
	int arenas;
	int spaces;
	int targets;
	volatile uint32_t *stamp; /* raised when the programs are to look at what they were told */
};

struct file_identity {
	dev_t dev;
	ino_t ino;
};

/* A process whose mappings are to be told. */
struct unwind_subject {
	pid_t pid;
	uint32_t image;
	uint32_t unloads;                      /* of its target, before the mappings are read */
	bool ended;                            /* it is none any more: nothing changes */
	uint64_t r_debug;                      /* struct unwind_space */
	const struct file_identity *permanent; /* files that it will not unload */
	size_t permanent_cnt;
};

/* tables: whether they are wanted; else only where code is. */
int unwind_maps_init(struct unwind_maps *maps, const struct unwind_maps_fds *fds,
		     struct symbolizer *symbolizer, bool tables);
void unwind_maps_deinit(struct unwind_maps *maps);

/* How often the process has unloaded libraries; before it is a target, none of that is seen. */
uint32_t unwind_maps_unloads(const struct unwind_maps *maps, pid_t pid);

/*
 * A process has these mappings now: builds tables of new files, and tells the programs; unless it
 * has unloaded something meanwhile, of which a record will tell.
 */
void unwind_maps_refresh(struct unwind_maps *maps, const struct unwind_subject *subject,
			 const struct proc_maps *proc);

/* A process has ended. What was told of its image stays. */
void unwind_maps_forget(struct unwind_maps *maps, pid_t pid);
/* Nobody uses any more what was told of an image. */
void unwind_maps_drop(struct unwind_maps *maps, uint32_t image);

/* What the programs call the mappings that they know of the process; 0: they know none. */
uint32_t unwind_maps_generation(const struct unwind_maps *maps, pid_t pid);

#endif
