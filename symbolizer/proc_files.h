/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files below /proc/PID of one process image. maps_fd never shows another image, even if the
 * process calls exec; proc_fd never leads to another process, even if the pid is reused.
 */
#ifndef SYMBOLIZER_PROC_FILES_H
#define SYMBOLIZER_PROC_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/file_id.h"
#include "base/proc_maps.h"
#include "symbolizer/program_name.h"
#include "symbolizer/regions.h"

struct proc_files {
	pid_t pid;
	/* directory /proc/PID or /proc/PID/task/TID; -1 if the process had already ended */
	int proc_fd;
	int maps_fd;
	int root_fd; /* descriptor of the root directory (O_PATH); -1 if access is denied */
	/* the process is in another user namespace, where anything may be mounted below its root */
	bool foreign;
	uid_t uid;                   /* effective uid of the process */
	struct program_name program; /* empty until proc_files_read_program() has found it */
	bool is_program_read;
	char *jit_path; /* path where the process's JIT map would be, relative to the root */
};

/*
 * Opens the /proc files of a process. Returns -ESRCH if the process does not exist or no longer has
 * memory.
 */
int proc_files_init(pid_t pid, struct proc_files *ret);
/* Initialises the files of a process that ended before its /proc files could be opened. */
void proc_files_init_ended(struct proc_files *ret);
void proc_files_deinit(struct proc_files *files);

/* Reads the image's mappings. Returns -ESRCH if the image is gone. */
int proc_files_maps(const struct proc_files *files, struct proc_maps *ret);

/*
 * Reads the program's name, if it has not been read yet. Call this when the mappings have been
 * read: while they are locked, so is the name.
 */
void proc_files_read_program(struct proc_files *files);

/* Returns the file version used for a copy of the vdso. The version's size is the region's size. */
struct file_version proc_image_vdso(const struct region *region);

/*
 * Opens a mapping's file, even if it was deleted or is in another mount namespace. Returns an fd or
 * a negative errno. For an ended process, opens the mapping's path if that is still the mapped
 * file. For the vdso, opens a copy of memleak's own vdso; *ret then has a fixed inode number.
 */
int proc_files_open(const struct proc_files *files, const struct region *region,
		    struct file_version *ret);

#endif
