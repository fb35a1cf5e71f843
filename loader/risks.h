/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that a probe could hurt. */
#ifndef RISKS_H
#define RISKS_H

#include <sys/types.h>

/* 0, or a negative errno: it is not to be probed, and why was said. */
int risks_check(pid_t pid);

/*
 * The same of probes that are in all processes: on some kernels those under a seccomp filter would
 * be ended, whether they are traced or not.
 */
int risks_check_shared(void);

#endif
