/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a process by name. */
#ifndef OPTIONS_PROCESS_NAME_H
#define OPTIONS_PROCESS_NAME_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the process whose name in /proc/PID/comm is `name`. `name` has `len` bytes, of which the
 * first 15 are compared. Ignores memleak itself.
 *
 * Returns 0 if there is exactly one such process, else a negative errno. -ESRCH: there is none;
 * *ret_others is then the similar name of a process, or NULL. -EMLINK: there are several;
 * *ret_others then lists pids of some of them. The caller must free *ret_others.
 */
int process_by_name(const char *name, size_t len, pid_t *ret, char **ret_others);

#endif
