/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file in which the kernel places the probes for an open file. On an overlay, this is a
 * file of one of its layers, while the open file has a different inode number in each mount of the
 * overlay. Containers made from the same container image share the files of its layers.
 */
#ifndef LOADER_PROBES_BACKING_INODE_H
#define LOADER_PROBES_BACKING_INODE_H

#include "base/file_id.h"

/*
 * Sets *ret to the file in which the kernel places the probes for fd. Returns 0 or a negative
 * errno.
 */
int backing_inode(int fd, struct file_id *ret);

#endif
