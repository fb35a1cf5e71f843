/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rights that memleak itself gives up. It does not know what they are used for. */
#ifndef APP_RIGHTS_H
#define APP_RIGHTS_H

#include <stdbool.h>

/* Whether the kernel gives events of performance to this process. */
bool rights_may_open_events(void);

/*
 * Gives up, for good, every capability that a run does not need from now on, and the way to get
 * others by running a program. A command must have been started. Call it before there are threads:
 * each has rights of its own. replaces_files: new files will be made in place of old ones.
 * ends_command: that may have become another user's. needs_admin: CAP_SYS_ADMIN stays. 0 or a
 * negative errno.
 */
int rights_shed(bool replaces_files, bool ends_command, bool needs_admin);

#endif
