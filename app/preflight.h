/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what memleak cannot work without, and says which one is missing. */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "options/options.h"

/* Keeps libbpf's messages off stderr, unless -v is given twice. Called before libbpf is used. */
void preflight_quieten_libbpf(void);

/*
 * 0 or -EPERM, -ENOSYS, -EMFILE, -EINVAL; has said on stderr what is missing, and which option the
 * kernel allows less of.
 */
int preflight_check(const struct options *opts);

#endif
