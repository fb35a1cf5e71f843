/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens regular files whose names come from a traced process. All files of traced processes must be
 * opened by these functions.
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Says which symbolic links in a path are followed. */
enum links {
	LINKS_ALL,
	/* follow symbolic links in the folders of the path, but not in its last component */
	LINKS_BEFORE,
	LINKS_NONE, /* follow no symbolic links: they are errors */
};

/*
 * Opens a file for reading and fills *st. `path` is resolved with root_fd as the root, which
 * symbolic links cannot leave. If root_fd is -1, `path` is relative to dir_fd instead. Opens only
 * regular files on real file systems, since opening a device or pipe, or reading a file of /proc or
 * /sys, may have side effects. Returns an fd or a negative errno: -ENOEXEC if the file is not a
 * regular file on a real file system.
 */
int regular_file_open(int dir_fd, int root_fd, const char *path, enum links links, struct stat *st);

/*
 * Sets a filter: the functions of this file return -EREMOTE for files for which is_refused()
 * returns true. is_refused() gets an O_PATH descriptor and must not access the file's file system.
 */
void regular_file_refuse(bool (*is_refused)(int path_fd));

/*
 * Opens a file for reading, given its O_PATH descriptor path_fd, which stays open. Returns an fd or
 * a negative errno; -EBUSY if a process has a lease on the file.
 */
int regular_file_reopen(int path_fd, struct stat *st);

/*
 * Like regular_file_open() for an absolute path, but looks up the path only in the kernel's path
 * cache, and so never waits for a file system to find it. The paths of mapped files are in this
 * cache. Returns -ENOENT if the path is not cached. Before Linux 5.12, looks up the path as usual.
 */
int regular_file_open_known(int root_fd, const char *path, enum links links, struct stat *st);

/*
 * Reads the target of the symbolic link `path`, which is looked up as in regular_file_open_known().
 * Needed because that function cannot follow a link whose access time the kernel would have to
 * update, which usually happens once a day. Links in the folders of the path are followed. Returns
 * 0, or -ENOENT if there is no such link, the path is not cached, the filter of
 * regular_file_refuse() refuses the link, or the target does not fit into `size` bytes.
 */
int link_read_known(int root_fd, const char *path, char *ret, size_t size);

/* Opens a folder with O_PATH; root_fd and `links` are as in regular_file_open(). */
int folder_open(int root_fd, const char *path, enum links links);

#endif
