/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for separate debug files in the usual places. Finds candidates by name and opens them; the
 * server says whether one is the right one.
 */
#ifndef SYMBOLIZER_DEBUG_FILE_H
#define SYMBOLIZER_DEBUG_FILE_H

#include <sys/stat.h>

#include "symbolizer/module.h"

/*
 * Opens the index-th place for what module needs: those in the process's own root (root_fd, -1:
 * not known) and, below its folder of debug files alone, those of the host. ret_path is to be
 * freed. -ENOENT: nothing there, try the next; -ERANGE: there are no more places; -ENOMEM.
 */
int debug_file_open(const struct module *module, int root_fd, unsigned int index, int *ret_fd,
		    char **ret_path);

#endif
