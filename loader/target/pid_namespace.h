/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pid namespace that memleak runs in, whose numbers its user gives and reads. */
#ifndef LOADER_TARGET_PID_NAMESPACE_H
#define LOADER_TARGET_PID_NAMESPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Its number; 0: it is the initial one. */
uint32_t pid_namespace_own(void);

/* Whether the numbers in /proc are those that system calls take. */
bool pid_namespace_has_proc(void);

#endif
