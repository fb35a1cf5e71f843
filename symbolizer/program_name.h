/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name by which a program was started, where its file has several. */
#ifndef SYMBOLIZER_PROGRAM_NAME_H
#define SYMBOLIZER_PROGRAM_NAME_H

/* For people only; empty if the program was started by the name of its file. */
struct program_name {
	char *path; /* of the file, as mappings have it */
	char *name;
};

/*
 * Reads it from the directory /proc/PID: the name of the process, or what it was called with, if
 * that is a link to the same file in the file's folder. No file system is asked for it, only what
 * the kernel has in memory. A name that cannot be found out is none.
 */
void program_name_init(int proc_fd, int root_fd, struct program_name *ret);
void program_name_deinit(struct program_name *name);

#endif
