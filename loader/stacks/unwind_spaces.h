/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells the programs where each process has code, and which unwind table goes with it. */
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
	struct told_space *items; /* of each process */
	size_t cnt;
	size_t cap;
	struct code_history history;
};

struct unwind_spaces_fds {
	int arenas;
	int files;
	int spaces;
	int targets;
	volatile uint32_t *stamp; /* raised when there is something new for the programs */
};

/* A process whose mappings are to be published. */
struct unwind_subject {
	pid_t pid;
	uint32_t image;
	uint32_t unloads;                /* of its target, before the mappings are read */
	bool ended;                      /* it has ended: its mappings change no more */
	uint64_t r_debug;                /* as in struct unwind_space */
	const struct file_id *permanent; /* files that it will not unload */
	size_t permanent_cnt;
	uint64_t deadline_ns; /* its files are waited for no longer than to here */
};

/* tables: whether unwind tables are wanted; else the programs only learn where code is. */
int unwind_spaces_init(struct unwind_spaces *spaces, const struct unwind_spaces_fds *fds,
		       struct symbolizer *symbolizer, bool tables);
void unwind_spaces_deinit(struct unwind_spaces *spaces);

/* How often the process has unloaded libraries. Before it is a target, none of that is seen. */
uint32_t unwind_spaces_unloads(const struct unwind_spaces *spaces, pid_t pid);

/*
 * A process has these mappings now: has tables of new files made, and publishes the mappings;
 * unless it has unloaded something meanwhile, of which a record will tell. False: the deadline came
 * before all files were read, and those that are left want another call.
 */
bool unwind_spaces_refresh(struct unwind_spaces *spaces, const struct unwind_subject *subject,
			   const struct proc_maps *proc);

/* A process has ended. The programs keep the mappings of its image. */
void unwind_spaces_forget(struct unwind_spaces *spaces, pid_t pid);
/* Nobody needs the mappings of an image any more. */
void unwind_spaces_drop(struct unwind_spaces *spaces, uint32_t image);

/* The generation of the mappings that the programs know of the process; 0: they know none. */
uint32_t unwind_spaces_generation(const struct unwind_spaces *spaces, pid_t pid);
/* The user whose process it is; -1: not known. */
uid_t unwind_spaces_uid(const struct unwind_spaces *spaces, pid_t pid);

#endif
