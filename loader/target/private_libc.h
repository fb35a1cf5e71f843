/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps probes that apply to all processes out of memleak itself, which they would slow down. */
#ifndef LOADER_TARGET_PRIVATE_LIBC_H
#define LOADER_TARGET_PRIVATE_LIBC_H

/* Name of the in-memory file. */
#define PRIVATE_LIBC_NAME "memleak's C library"

/*
 * Replaces the C library's code by a copy in an in-memory file. Probes are set on files, and only
 * memleak and the processes that it forks map this file. Call while there is one thread. Returns 0,
 * or a negative errno with nothing changed.
 */
int private_libc_install(void);

#endif
