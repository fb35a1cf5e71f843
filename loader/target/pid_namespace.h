/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pid namespace of memleak. Pids in options and reports are pids in this namespace. */
#ifndef LOADER_TARGET_PID_NAMESPACE_H
#define LOADER_TARGET_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the inode of memleak's pid namespace; 0 if it is the initial one. */
uint32_t pid_namespace_own(void);

/* True if /proc shows the pids of memleak's pid namespace. */
bool pid_namespace_has_proc(void);

#endif
