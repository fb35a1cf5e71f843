/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens regular files whose names come from a target: every file of a target is opened by this. */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Which symbolic links are followed. */
enum links {
	LINKS_ALL,
	LINKS_BEFORE, /* but not in the place of the file itself */
	LINKS_NONE,   /* wherever they are */
};

/*
 * Opens path for reading, below root_fd when that is not -1 (no link leads out of it) and relative
 * to dir_fd otherwise. Only a regular file, which a look at it cannot disturb: opening a device or
 * a pipe can, and so can reading a file of /proc, /sys and their like. An fd, or a negative errno;
 * -ENOEXEC: it is none.
 */
int regular_file_open(int dir_fd, int root_fd, const char *path, enum links links, struct stat *st);

/*
 * From now on files are refused of which this is true, with -EREMOTE: it is asked of a file that is
 * open as a path alone, and must not ask that file's system.
 */
void regular_file_refuse(bool (*is_refused)(int path_fd));

/* Opens for reading what is open as a path alone (O_PATH), which stays open. */
int regular_file_reopen(int path_fd, struct stat *st);

/*
 * The same for an absolute path that the kernel has in memory, as that of a file which is mapped:
 * no file system is asked for it. Else there is no such file: -ENOENT.
 */
int regular_file_open_known(int root_fd, const char *path, enum links links, struct stat *st);

/* Opens a folder as a path alone, as above. */
int folder_open(int root_fd, const char *path, enum links links);

#endif
