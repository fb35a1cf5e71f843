/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Publishes to the programs where each process has code, and the unwind table for it. */
#ifndef LOADER_STACKS_UNWIND_SPACES_H
#define LOADER_STACKS_UNWIND_SPACES_H

#include "loader/stacks/code_history.h"
#include "loader/stacks/map_updater.h"
#include "loader/stacks/unwind_files.h"

struct told_space;

struct unwind_spaces {
	struct unwind_files files;
	struct map_updater *map_updater;
	int spaces_fd;
	int targets_fd;
	volatile uint32_t *stamp;
	uint32_t generation;
	struct told_space *items; /* one per process */
	size_t cnt;
	size_t cap;
	struct code_history history;
};

struct unwind_spaces_fds {
	int arenas;
	int files;
	int spaces;
	int targets;
	volatile uint32_t *stamp; /* raised when something new is published */
};

/* A process whose mappings are to be published. */
struct unwind_subject {
	pid_t pid;
	uint32_t image;
	uint32_t unloads;                /* the target's unload count before reading maps */
	bool ended;                      /* the process has ended; its mappings no longer change */
	uint64_t r_debug;                /* address of r_debug, as in struct unwind_space */
	const struct file_id *permanent; /* files that it never unloads */
	size_t permanent_cnt;
	uint64_t deadline_ns; /* deadline for reading its files */
};

/* tables: whether to build unwind tables; otherwise only code mappings are published. */
int unwind_spaces_init(struct unwind_spaces *spaces, const struct unwind_spaces_fds *fds,
		       struct symbolizer *symbolizer, bool tables);
void unwind_spaces_deinit(struct unwind_spaces *spaces);

/* Returns the process's unload count; 0 if it is not a target yet. */
uint32_t unwind_spaces_unloads(const struct unwind_spaces *spaces, pid_t pid);

/*
 * Publishes the process's current mappings and builds tables of new files. Publishes nothing if it
 * has unloaded code meanwhile: a record of that will follow. Returns false if the deadline passed
 * before all files were read; call again for the rest.
 */
bool unwind_spaces_refresh(struct unwind_spaces *spaces, const struct unwind_subject *subject,
			   const struct proc_maps *proc);

/* Forgets a process that has ended. The programs keep the mappings of its image. */
void unwind_spaces_forget(struct unwind_spaces *spaces, pid_t pid);
/* Drops the mappings of an image that are no longer needed. */
void unwind_spaces_drop(struct unwind_spaces *spaces, uint32_t image);

/* Returns the generation of the process's published mappings; 0 if there are none. */
uint32_t unwind_spaces_generation(const struct unwind_spaces *spaces, pid_t pid);
/* Returns the uid of the process; -1 if unknown. */
uid_t unwind_spaces_uid(const struct unwind_spaces *spaces, pid_t pid);

#endif
