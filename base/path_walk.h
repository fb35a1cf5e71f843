/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens a path part by part, so that each folder can be checked before the kernel looks up a name
 * in it. The kernel resolves a path in one call, and asks the server of each file system on it.
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

#endif
