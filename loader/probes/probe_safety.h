/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Detects processes that probes would harm. */
#ifndef LOADER_PROBES_PROBE_SAFETY_H
#define LOADER_PROBES_PROBE_SAFETY_H

#include <sys/types.h>

/*
 * Checks whether a process may be probed. Returns 0, or a negative errno after logging the reason.
 */
int probe_safety_check(pid_t pid);

/*
 * Checks whether probes may be attached for all processes. With these probes, some kernels kill
 * every process with a seccomp filter, even if it is not traced. Returns 0, or a negative errno
 * after logging the reason.
 */
int probe_safety_check_shared(void);

#endif
