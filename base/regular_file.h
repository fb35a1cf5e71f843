/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens regular files with names from a target. All files of targets must be opened by these
 * functions.
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <sys/stat.h>

/* Symbolic links that are followed. */
enum links {
	LINKS_ALL,
	LINKS_BEFORE, /* in the folders of the path, but not as the file itself */
	LINKS_NONE,   /* no links, neither in folders nor as the file */
};

/*
 * Opens path for reading: below root_fd (links cannot lead out) unless that is -1, else relative to
 * dir_fd. Opens only regular files on real file systems: opening a device or pipe, or reading a
 * file of /proc, /sys etc., may have side effects. Returns an fd or a negative errno; -ENOEXEC if
 * it is not such a file.
 */
int regular_file_open(int dir_fd, int root_fd, const char *path, enum links links, struct stat *st);

/*
 * Sets a filter: files for which is_refused() is true are refused with -EREMOTE. It is called with
 * an O_PATH descriptor and must not access the file's file system.
 */
void regular_file_refuse(bool (*is_refused)(int path_fd));

/* Opens the file of an O_PATH descriptor for reading. path_fd stays open. */
int regular_file_reopen(int path_fd, struct stat *st);

/*
 * Like regular_file_open() for an absolute path, but uses only the kernel's path cache, which has
 * paths of mapped files: never waits for a file system. Returns -ENOENT if the path is not cached.
 */
int regular_file_open_known(int root_fd, const char *path, enum links links, struct stat *st);

/* Opens a folder with O_PATH; root_fd and links as in regular_file_open(). */
int folder_open(int root_fd, const char *path, enum links links);

#endif
