/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a path part by part, so that each folder can be checked before the kernel looks up a name
 * in it, and each link before it is followed. The kernel resolves a path in one call, and asks the
 * server of each file system on it.
 */
#ifndef BASE_PATH_WALK_H
#define BASE_PATH_WALK_H

#include <linux/openat2.h>
#include <stdbool.h>

/*
 * Opens a path as openat2() does; at_fd may be AT_FDCWD. Knows the flags O_PATH, O_NOFOLLOW and
 * O_DIRECTORY, RESOLVE_IN_ROOT (with RESOLVE_NO_MAGICLINKS) and RESOLVE_NO_SYMLINKS. Returns an
 * O_PATH descriptor or a negative errno; -EREMOTE if is_refused() returns true for the file or for
 * a folder on the way to it. Below a root, follows no links of a /proc file system.
 */
int path_walk_open(int at_fd, const char *path, const struct open_how *how,
		   bool (*is_refused)(int path_fd));

/* Creates a file. Returns an fd or a negative errno; -EEXIST if the name exists. */
typedef int path_create(int folder_fd, const char *name);
/* Returns a negative errno if a file or symbolic link in folder_fd must not be opened; else 0. */
typedef int path_check(int folder_fd, int path_fd);

/*
 * Creates the file `path` by create(), and returns the fd. If the file exists, returns an O_PATH
 * descriptor of it instead. Calls check() for an existing file, and for each symbolic link before
 * it is followed, but not for the file to which a link in /proc refers. Returns -EISDIR if the path
 * or the target of its last link ends with a slash, or another negative errno.
 */
int path_walk_create(const char *path, path_create *create, path_check *check);

#endif
