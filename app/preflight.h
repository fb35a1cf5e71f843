/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks the requirements of tracing, and logs those that are not met. */
#ifndef APP_PREFLIGHT_H
#define APP_PREFLIGHT_H

#include "options/options.h"

/* Keeps libbpf's messages off stderr, unless -v is given twice. Called before libbpf is used. */
void preflight_quieten_libbpf(void);

/*
 * Checks all requirements. Returns 0 or a negative errno. Logs what is missing, and options that
 * the kernel limits.
 */
int preflight_check(const struct options *opts);

#endif
