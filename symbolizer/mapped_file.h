/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens the files of mappings whose process is gone, with its /proc: by path, in our own root. */
#ifndef MAPPED_FILE_H
#define MAPPED_FILE_H

#include <sys/stat.h>

#include "symbolizer/proc_maps.h"

/*
 * Opens what lies at the mapping's path if it is the file that was mapped, which has not changed
 * since that was (since_ns, where known): its inode number may have become another file's. An fd,
 * with *ret filled, or a negative errno; -ENOENT: it is not there, or cannot be told from others.
 */
int mapped_file_open(const struct mapping *mapping, struct stat *ret);

#endif
