/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptors of files below /proc/PID for one exec image (one program between two execs). If the
 * process calls exec, maps_fd shows no mappings any more; it never shows those of the new program.
 * proc_fd never leads to another process, even if the pid is reused.
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
	/*
	 * -EAGAIN until the file can be opened, if the process was waiting in exec: the file then
	 * shows the mappings of the new program
	 */
	int maps_fd;
	/* the process's root directory (O_PATH); -EAGAIN as for maps_fd, or another error */
	int root_fd;
	/* true if in another user namespace: anything may be mounted below its root */
	bool foreign;
	uid_t uid;                   /* effective uid of the process */
	struct program_name program; /* empty until proc_files_read_program() has found it */
	bool is_program_read;
	char *jit_path; /* path of the process's JIT map, if there is one, below root_fd */
};

/*
 * Opens the /proc files of a process. Returns -ESRCH if the process does not exist or no longer has
 * memory.
 */
int proc_files_init(pid_t pid, struct proc_files *ret);
/* Fills *ret for a process that ended before its /proc files could be opened. */
void proc_files_init_ended(struct proc_files *ret);
void proc_files_deinit(struct proc_files *files);

/*
 * Reads the mappings. Returns -ESRCH if the process has exited or called exec since
 * proc_files_init(), or another error of proc_maps_read_fd().
 */
int proc_files_maps(struct proc_files *files, struct proc_maps *ret);

/*
 * Reads the program's name, if it has not been read yet. Call this after reading the mappings:
 * while a locked memory map prevents that, the name cannot be read, either.
 */
void proc_files_read_program(struct proc_files *files);

/*
 * Returns the struct file_version for a copy of the vdso mapped by `region`: it has a fixed inode
 * number and the region's size.
 */
struct file_version proc_image_vdso(const struct region *region);

/*
 * Opens the file that `region` maps, even if it was deleted or is in another mount namespace. For
 * an ended process, opens the region's path in memleak's own root, if that is still the mapped
 * file. For the vdso, returns a copy of memleak's own vdso. Returns an fd, with *ret set to the
 * version of the file, or a negative errno.
 */
int proc_files_open(const struct proc_files *files, const struct region *region,
		    struct file_version *ret);

#endif
