/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a process by name. */
#ifndef OPTIONS_PROCESS_NAME_H
#define OPTIONS_PROCESS_NAME_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Finds the only process, except memleak, whose /proc/PID/comm is name (len bytes, of which the
 * first 15 are compared).
 *
 * Returns 0 or a negative errno. -ESRCH: there is none, and *ret_others is a similar name or NULL.
 * -EMLINK: there are several, and *ret_others lists some. *ret_others must be freed.
 */
int process_by_name(const char *name, size_t len, pid_t *ret, char **ret_others);

#endif
