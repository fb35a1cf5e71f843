/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file the probes of an open file are in. An overlay shows the files of its layers as its own
 * and gives them other numbers in each mount, but the files of the layers are what is mapped and
 * probed: containers of one image share them.
 */
#ifndef LOADER_PROBES_BACKING_INODE_H
#define LOADER_PROBES_BACKING_INODE_H

#include "base/file_id.h"

/* 0 or a negative errno. */
int backing_inode(int fd, struct file_id *ret);

#endif
