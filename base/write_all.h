/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes to files, pipes, terminals and sockets. If a reader is stalled while a termination signal
 * is pending, or while fair_lock_is_interrupted() is true, these functions return -ECANCELED. They
 * return 0 or a negative errno.
 */
#ifndef BASE_WRITE_ALL_H
#define BASE_WRITE_ALL_H

#include <stddef.h>

/* Writes all bytes. Waits if the reader is slow, even if the descriptor is non-blocking. */
int write_all(int fd, const char *bytes, size_t len);

/* Like write_all(), but on failure, such as a full disk, restores the size of a regular file. */
int append_all(int fd, const void *bytes, size_t len);

#endif
