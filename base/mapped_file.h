/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files mappings are of. A file that a process had mapped which is gone, with its /proc, is
 * opened by path, in our own root.
 */
#ifndef BASE_MAPPED_FILE_H
#define BASE_MAPPED_FILE_H

#include <sys/stat.h>

#include "base/file_id.h"
#include "base/proc_maps.h"

/*
 * What maps call an open file that is mapped: overlays and btrfs have other numbers there than for
 * stat. Nothing of the file is read. 0 or a negative errno, and then *ret is as it was.
 */
int mapped_file_id(int fd, struct file_id *ret);

/*
 * Whether an open file, of which st tells, is what maps call shown. Its way there is believed to
 * lead to the right device: the number of the inode alone may do.
 */
bool mapped_file_is(int fd, const struct stat *st, const struct file_id *shown);

/*
 * Opens what lies at the mapping's path if it is the file that was mapped, which has not changed
 * since that was (since_ns, where known): its inode number may have become another file's. An fd,
 * with *ret filled, or a negative errno; -ENOENT: it is not there, or cannot be told from others.
 */
int mapped_file_open(const struct mapping *mapping, struct stat *ret);

#endif
