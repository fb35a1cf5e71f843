/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vdso: a library that the kernel maps into every process. It has no path. */
#ifndef BASE_VDSO_H
#define BASE_VDSO_H

/* Copies the vdso to a memory file. Returns its fd or a negative errno. */
int vdso_copy(void);

#endif
