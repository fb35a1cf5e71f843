/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes bytes wherever they go. Who holds the other end and reads nothing does not keep memleak
 * from ending: -ECANCELED, when a signal to end has come. Other errors are negative errnos, too.
 */
#ifndef WRITE_ALL_H
#define WRITE_ALL_H

#include <stddef.h>

/* All of it, also to what is slow or not blocking. */
int write_all(int fd, const char *bytes, size_t len);

/* The same; a file is then as long as before if it fails, as on a full disk. */
int append_all(int fd, const void *bytes, size_t len);

#endif
