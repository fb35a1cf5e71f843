/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that a probe could hurt. */
#ifndef LOADER_PROBES_PROBE_SAFETY_H
#define LOADER_PROBES_PROBE_SAFETY_H

#include <sys/types.h>

/* 0, or a negative errno: the process is not to be probed, and why was logged. */
int probe_safety_check(pid_t pid);

/*
 * Whether probes may be in all processes: on some kernels they would end each that is under a
 * seccomp filter, traced or not. 0 or a negative errno, as above.
 */
int probe_safety_check_shared(void);

#endif
