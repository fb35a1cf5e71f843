/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the name by which a program was started, if its file has several names (links). */
#ifndef SYMBOLIZER_PROGRAM_NAME_H
#define SYMBOLIZER_PROGRAM_NAME_H

#include <sys/types.h>

/*
 * The name by which a program was started, for display. Both members are NULL if the program was
 * started by the name of its file.
 */
struct program_name {
	char *path; /* path of the program's file, as in mappings */
	char *name;
};

/*
 * Finds the name by which the program of a process was started. proc_fd: the directory /proc/PID.
 * Tries the first argument (argv[0]), then the process's comm. A name is accepted if the folder of
 * the program's file contains a file or link of this name that leads to the program's file. Leaves
 * *ret empty if no name is accepted. Looks up only paths that the kernel has cached, so that it
 * never waits for a file system. Returns 0, or -EAGAIN if the memory map of the process stays
 * locked: the caller should try again later.
 */
int program_name_init(pid_t pid, int proc_fd, int root_fd, struct program_name *ret);
void program_name_deinit(struct program_name *name);

#endif
