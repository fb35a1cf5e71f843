/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pid namespace that memleak runs in: its pids appear in options and reports. */
#ifndef LOADER_TARGET_PID_NAMESPACE_H
#define LOADER_TARGET_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the inode of the pid namespace; 0 if it is the initial one. */
uint32_t pid_namespace_own(void);

/* True if /proc shows pids of our own namespace. */
bool pid_namespace_has_proc(void);

#endif
