/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prevents memleak from opening targets' files on file systems that a process serves (FUSE), or on
 * overlays of them. Any user may mount such a file system. Opening, reading or closing its files
 * waits for the serving process, and not even SIGKILL interrupts the wait.
 */
#ifndef LOADER_PROBES_FILE_SYSTEM_H
#define LOADER_PROBES_FILE_SYSTEM_H

/*
 * Makes regular_file_open() refuse files on served file systems from now on. On kernels before 5.10
 * such files cannot be detected, and no file is refused.
 */
void file_system_refuse_served(void);

/*
 * Does the same with a program that is loaded already, and the variables of its object. The caller
 * calls file_system_forget() before the program is unloaded. Does nothing if files on served file
 * systems are refused already.
 */
void file_system_refuse_served_by(int program_fd, int *file_fd, int *file_served);

/* Files on served file systems are no longer refused if this program detects them. */
void file_system_forget(int program_fd);

#endif
