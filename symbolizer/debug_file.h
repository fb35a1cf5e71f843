/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where separate debug files may be. Finds candidates by name and opens them; whether one is the
 * right one, the helper says.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include <sys/stat.h>

#include "symbolizer/module.h"

/*
 * Opens the index-th place for what module needs: those in the process's own root (root_fd, -1:
 * not known) and those of the host. ret_path: where it is, to be freed.
 * -ENOENT: nothing there, try the next; -ERANGE: there are no more places; -ENOMEM.
 */
int debug_file_open(const struct module *module, int root_fd, unsigned int index, int *ret_fd,
		    char **ret_path);

/*
 * Opens path for reading, below root_fd when that is not -1 (no link leads out of it) and relative
 * to dir_fd otherwise. Only a regular file, which a look at it cannot disturb: opening a device or
 * a pipe can. flags: 0, or O_NOFOLLOW to refuse a link. An fd, or a negative errno.
 */
int regular_file_open(int dir_fd, int root_fd, const char *path, int flags, struct stat *st);

#endif
