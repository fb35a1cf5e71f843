/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the file in which the probes of an open file are placed. An overlay presents its layers'
 * files with different inode numbers in each mount, but the layers' files are mapped and probed.
 * Containers of one image share them.
 */
#ifndef LOADER_PROBES_BACKING_INODE_H
#define LOADER_PROBES_BACKING_INODE_H

#include "base/file_id.h"

/* Returns 0 or a negative errno. */
int backing_inode(int fd, struct file_id *ret);

#endif
