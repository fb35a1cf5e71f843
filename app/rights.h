/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops capabilities of memleak. Does not know what memleak uses capabilities for. */
#ifndef APP_RIGHTS_H
#define APP_RIGHTS_H

#include <stdbool.h>

/* True if the kernel lets this process open perf events. */
bool rights_may_open_events(void);

/*
 * Permanently drops all capabilities that the rest of the run does not need, and the possibility to
 * gain capabilities by executing a program. Must be called after the command has been started, but
 * before threads are started, because each thread has its own capabilities.
 *
 * replaces_files: memleak will replace files by new ones. ends_command: memleak will end the
 * command, which may run as another user. needs_admin: memleak needs CAP_SYS_ADMIN. CAP_SYS_ADMIN
 * is also kept if it is needed to open perf events, or if a capability that it implies is missing.
 * Returns 0 or a negative errno.
 */
int rights_shed(bool replaces_files, bool ends_command, bool needs_admin);

#endif
