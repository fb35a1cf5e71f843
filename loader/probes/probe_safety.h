/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects processes that a probe could harm. */
#ifndef LOADER_PROBES_PROBE_SAFETY_H
#define LOADER_PROBES_PROBE_SAFETY_H

#include <sys/types.h>

/* Returns 0, or a negative errno after logging why the process must not be probed. */
int probe_safety_check(pid_t pid);

/*
 * Checks whether all processes may be probed: some kernels would kill each process that has a
 * seccomp filter, traced or not. Returns 0, or a negative errno after logging the reason.
 */
int probe_safety_check_shared(void);

#endif
