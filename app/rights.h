/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives up capabilities of memleak itself. Does not know what the capabilities are used for. */
#ifndef APP_RIGHTS_H
#define APP_RIGHTS_H

#include <stdbool.h>

/* True if the kernel lets this process open perf events. */
bool rights_may_open_events(void);

/*
 * Permanently drops all capabilities that the rest of the run does not need, and the means to gain
 * capabilities by executing a program. Must be called after the command has been started, but
 * before threads are started, because each thread has its own capabilities.
 *
 * If replaces_files is true, the rest of the run will replace files by new ones. If ends_command is
 * true, memleak will end the command, which may run as another user. If needs_admin is true,
 * CAP_SYS_ADMIN is kept. Returns 0 or a negative errno.
 */
int rights_shed(bool replaces_files, bool ends_command, bool needs_admin);

#endif
