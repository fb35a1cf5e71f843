/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads from a file offset. Retries interrupted and short reads. */
#ifndef BASE_READ_AT_H
#define BASE_READ_AT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Reads len bytes at a file offset. Returns the number of bytes read, which is less than len only
 * at the end of the file, or a negative errno.
 */
ssize_t read_at(int fd, void *buf, size_t len, uint64_t offset);

#endif
