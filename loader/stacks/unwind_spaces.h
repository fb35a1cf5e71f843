/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes the code mappings of each process, and their unwind tables, to the BPF programs. */
#ifndef LOADER_STACKS_UNWIND_SPACES_H
#define LOADER_STACKS_UNWIND_SPACES_H

#include "loader/stacks/code_history.h"
#include "loader/stacks/map_updater.h"
#include "loader/stacks/scripts.h"
#include "loader/stacks/unwind_files.h"

struct published_space;

struct unwind_spaces {
	struct unwind_files files;
	struct map_updater *map_updater;
	int spaces_fd;
	int targets_fd;
	volatile uint32_t *stamp;
	uint32_t generation;
	struct published_space *items; /* one item per process */
	size_t cnt;
	size_t cap;
	struct code_history history;
	struct scripts scripts;
};

struct unwind_spaces_fds {
	int arenas;
	int files;
	int spaces;
	int targets;
	int interpreters;
	volatile uint32_t *stamp; /* counter, incremented when a process's mappings change */
};

/* A process whose mappings are passed to the BPF programs. */
struct unwind_subject {
	pid_t pid;
	uint32_t image;
	uint32_t unloads; /* the process's unload count, read before its mappings */
	/* true if the process has ended, so that its mappings no longer change */
	bool ended;
	uint64_t r_debug;                /* address of r_debug, as in struct unwind_space */
	const struct file_id *permanent; /* files that the process never unloads */
	size_t permanent_cnt;
	uint64_t deadline_ns; /* deadline for reading the process's files */
	/* the process's symbol space, already updated with its mappings */
	const struct symspace *space;
};

/*
 * Initialises an empty set. tables: true to build unwind tables; false for code mappings only.
 * Returns 0 or a negative errno.
 */
int unwind_spaces_init(struct unwind_spaces *spaces, const struct unwind_spaces_fds *fds,
		       struct symbolizer *symbolizer, bool tables);
void unwind_spaces_deinit(struct unwind_spaces *spaces);

/* Returns the unload count of the process; 0 if the process is not a target yet. */
uint32_t unwind_spaces_unloads(const struct unwind_spaces *spaces, pid_t pid);

/*
 * Passes the process's current mappings to the BPF programs, and builds unwind tables of new files.
 * Passes nothing if the process has unloaded code since the mappings were read: a record of the
 * unload will follow. Returns false if the deadline passed before all files were read; then call
 * again.
 */
bool unwind_spaces_refresh(struct unwind_spaces *spaces, const struct unwind_subject *subject,
			   const struct proc_maps *proc);

/* Forgets a process that has ended. The BPF programs keep the mappings of its image. */
void unwind_spaces_forget(struct unwind_spaces *spaces, pid_t pid);
/* Drops the mappings of an image. Call when they are no longer needed. */
void unwind_spaces_drop(struct unwind_spaces *spaces, uint32_t image);

/*
 * Returns the generation of the mappings that the BPF programs have of the process; 0 if they have
 * no mappings.
 */
uint32_t unwind_spaces_generation(const struct unwind_spaces *spaces, pid_t pid);
/* Returns the user of the process; -1 if unknown. */
uid_t unwind_spaces_uid(const struct unwind_spaces *spaces, pid_t pid);

#endif
