/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks for separate debug files by name in the usual places, and opens the files found
 * (candidates). The helper that parses ELF files checks whether a candidate is the needed file.
 */
#ifndef SYMBOLIZER_DEBUG_FILE_H
#define SYMBOLIZER_DEBUG_FILE_H

#include <sys/stat.h>

#include "symbolizer/module.h"

/*
 * Opens the index-th candidate for the debug file that the module needs (module->need). Candidates
 * are searched in the process's root (root_fd; -1 if unknown) and in the host's /usr/lib/debug.
 * Exception: if module->places is set, the candidates are the files listed there. The caller frees
 * *ret_path. Returns 0, -ENOENT if this candidate cannot be opened (try the next index), -ERANGE if
 * there are no more candidates, or -ENOMEM.
 */
int debug_file_open(const struct module *module, int root_fd, unsigned int index, int *ret_fd,
		    char **ret_path);

#endif
