/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps probes that memleak sets in the C library for all processes from firing in memleak itself
 * and slowing it down.
 */
#ifndef LOADER_TARGET_PRIVATE_LIBC_H
#define LOADER_TARGET_PRIVATE_LIBC_H

/* Name of the in-memory file with the copy of the C library. */
#define PRIVATE_LIBC_NAME "memleak's C library"

/*
 * Replaces the mapped code of the C library by a copy in an in-memory file. Probes are set in
 * files, and only memleak and the processes that it forks map this file. Call before other threads
 * are started. Returns 0, or a negative errno with nothing changed.
 */
int private_libc_install(void);

#endif
