/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens regular files whose names come from a target: every file of a target is opened by this. */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

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

/* Opens for reading what is open as a path alone (O_PATH), which stays open. */
int regular_file_reopen(int path_fd, struct stat *st);

/* Opens a folder as a path alone, as above. */
int folder_open(int root_fd, const char *path, enum links links);

#endif
