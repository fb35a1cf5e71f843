/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the requirements of tracing, and logs those that are not met. */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "options/options.h"

/*
 * Suppresses libbpf's messages on stderr, unless -v is given twice. Must be called before libbpf is
 * used.
 */
void preflight_quieten_libbpf(void);

/*
 * Checks all requirements. Logs the requirements that are not met, and the options that this kernel
 * limits. Returns 0 or a negative errno.
 */
int preflight_check(const struct options *opts);

#endif
