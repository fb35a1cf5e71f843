/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process that somebody means who gives its name. */
#ifndef OPTIONS_PROCESS_NAME_H
#define OPTIONS_PROCESS_NAME_H

#include <stddef.h>
#include <sys/types.h>

/*
 * The only process, but for this one, whose name in /proc/PID/comm is name, of len bytes; of which
 * a comm has 15 at most. 0; -ESRCH: none has that name, but *ret_others is near, or NULL; -EMLINK:
 * several have, of which *ret_others lists some; or another negative errno. *ret_others: to be
 * freed.
 */
int process_by_name(const char *name, size_t len, pid_t *ret, char **ret_others);

#endif
