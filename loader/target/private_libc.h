/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps probes that all processes share out of memleak itself, which they would slow down. */
#ifndef LOADER_TARGET_PRIVATE_LIBC_H
#define LOADER_TARGET_PRIVATE_LIBC_H

/* Name of the file in memory that the copy is. */
#define PRIVATE_LIBC_NAME "memleak's C library"

/*
 * Puts a copy of the C library's code into its place, of a file in memory: probes are on files, and
 * this one is mapped by memleak alone. Processes that are forked afterwards have the copy as well.
 * To be called while there is one thread. Returns 0 or a negative errno, and then nothing has
 * changed.
 */
int private_libc_install(void);

#endif
