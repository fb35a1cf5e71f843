/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes bytes wherever they go. A reader at the other end that reads nothing does not keep
 * memleak from ending: -ECANCELED, when a signal to end has come. Other errors are negative errnos,
 * too.
 */
#ifndef BASE_WRITE_ALL_H
#define BASE_WRITE_ALL_H

#include <stddef.h>

/* Writes all bytes, also to a descriptor that is slow or does not block. */
int write_all(int fd, const char *bytes, size_t len);

/* As write_all(); a file is as long as before if that fails, as on a full disk. */
int append_all(int fd, const void *bytes, size_t len);

#endif
