/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks what tracing requires, and logs the first requirement that is not met. */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "options/options.h"

/*
 * Suppresses libbpf's messages on stderr, unless -v is given twice. Must be called before libbpf is
 * used.
 */
void preflight_quieten_libbpf(void);

/*
 * Checks the requirements of tracing, and logs the first one that is not met. Also logs a note if
 * the kernel limits the depth of stacks. Returns 0 or a negative errno.
 */
int preflight_check(const struct options *opts);

#endif
