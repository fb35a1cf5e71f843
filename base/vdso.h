/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The vdso: a library that the kernel maps into every process. It has no path. */
#ifndef BASE_VDSO_H
#define BASE_VDSO_H

/* Copies memleak's own vdso to a memfd. Returns the memfd or a negative errno. */
int vdso_copy(void);

#endif
