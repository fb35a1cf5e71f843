/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps probes that all processes share out of memleak itself, which they would slow down. */
#ifndef LOADER_TARGET_PRIVATE_LIBC_H
#define LOADER_TARGET_PRIVATE_LIBC_H

/*
 * Puts a copy of the C library's code into its place, in memory that is of no file: probes are on
 * files. Processes that are forked afterwards have the copy as well. To be called while there is
 * one thread. Returns 0 or a negative errno, and then nothing has changed.
 */
int private_libc_install(void);

#endif
