/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads whole pieces of files from wherever they are, past interruptions and short reads. */
#ifndef BASE_READ_AT_H
#define BASE_READ_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How many bytes were read: fewer than len only if the file ends before. Or a negative errno. */
ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset);

#endif
