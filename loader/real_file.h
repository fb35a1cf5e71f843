/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file probes of an open file are in. An overlay shows the files of its layers as its own, by
 * other numbers in each mount, but what is mapped and probed are those of the layers: containers
 * of one image have the same.
 */
#ifndef REAL_FILE_H
#define REAL_FILE_H

#include <sys/stat.h>

/* As fstat, but st_dev and st_ino are the probed file's. Returns 0 or a negative errno. */
int real_file_stat(int fd, struct stat *ret);

#endif
