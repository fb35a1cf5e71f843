/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens regular files whose names come from a target. */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include <sys/stat.h>

/*
 * Opens path for reading, below root_fd when that is not -1 (no link leads out of it) and relative
 * to dir_fd otherwise. Only a regular file, which a look at it cannot disturb: opening a device or
 * a pipe can. flags: 0, or O_NOFOLLOW to refuse a link. An fd, or a negative errno.
 */
int regular_file_open(int dir_fd, int root_fd, const char *path, int flags, struct stat *st);

#endif
