/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what memleak cannot work without, and says which one is missing. */
#ifndef PREFLIGHT_H
#define PREFLIGHT_H

/* 0 or -EPERM, -ENOSYS; has said on stderr what is missing. */
int preflight_check(void);

#endif
