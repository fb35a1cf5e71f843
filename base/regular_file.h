/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens regular files whose names come from a traced process. All files of traced processes must be
 * opened by these functions. They return -EAGAIN if a file system does not answer (limited_call.h).
 */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

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
 * Sets a filter: the functions of this file return -EREMOTE for files and folders for which
 * is_refused() returns true, and for paths that lead through such a folder. is_refused() gets an
 * O_PATH descriptor and must not access the file's file system.
 */
void regular_file_refuse(bool (*is_refused)(int path_fd));

/*
 * Opens the file to which a link of a process leads: "exe" or "map_files/START-END". The link is in
 * dir_fd, the process's directory in /proc; AT_FDCWD if the name begins with "/proc". Returns as
 * regular_file_open(), or -EBUSY if a process has a lease on the file.
 */
int regular_file_open_link(pid_t pid, int dir_fd, const char *name, struct stat *st);

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
 * 0, or -ENOENT if there is no such link, the path is not cached, or the filter of
 * regular_file_refuse() refuses the link.
 */
int link_read_known(int root_fd, const char *path, char ret[PATH_MAX]);

/* Opens a folder with O_PATH; root_fd and `links` are as in regular_file_open(). */
int folder_open(int root_fd, const char *path, enum links links);

/*
 * file_stat() is like fstat(), but does not ask the server of a file on the network or in user
 * space: it returns what the kernel knows of the file. Sets only the file's identity, type,
 * permissions, owner, size, blocks, mtime and ctime. Returns 0 or a negative errno. file_stat_at()
 * does the same for a path, but resolving the path may ask a server.
 */
int file_stat(int fd, struct stat *ret);
int file_stat_at(int dir_fd, const char *name, struct stat *ret);

/*
 * True if an open file is on a file system of this type (linux/magic.h). False also if its server
 * does not answer.
 */
bool file_is_on(int fd, unsigned int type);

#endif
