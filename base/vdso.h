/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library that the kernel maps into every process: one file that no path leads to. */
#ifndef BASE_VDSO_H
#define BASE_VDSO_H

/* A copy in memory of our own, the same in all processes, and nobody's to change. A descriptor or
 * a negative errno. */
int vdso_copy(void);

#endif
