/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up capabilities of memleak itself. It does not know what they are used for. */
#ifndef APP_RIGHTS_H
#define APP_RIGHTS_H

#include <stdbool.h>

/* True if the kernel lets this process open perf events. */
bool rights_may_open_events(void);

/*
 * Permanently drops all capabilities that the rest of a run does not need, and the means to gain
 * any by executing a program. Call it after the command has been started and before any thread,
 * because each thread has its own capabilities.
 *
 * replaces_files: files will be replaced by new ones. ends_command: the command may run as another
 * user by its end. needs_admin: keep CAP_SYS_ADMIN. Returns 0 or a negative errno.
 */
int rights_shed(bool replaces_files, bool ends_command, bool needs_admin);

#endif
