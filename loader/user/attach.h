/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the allocator functions of a process and probes them. What is done with the probes of a
 * process later, and when a process is looked at again, it does not know.
 */
#ifndef LOADER_USER_ATTACH_H
#define LOADER_USER_ATTACH_H

#include "loader/user/process.h"

/*
 * Probes the allocator functions of the files that the process maps now, those that are not yet.
 * Returns 0, -EAGAIN (its libraries are still being loaded: what could be probed is) or another
 * negative errno, of which it has said what failed. -ENOENT: there is none.
 */
int attach_process(const struct user_context *ctx, struct user_process *process);

/*
 * Probes the functions of files that the process has mapped since it was attached. Whoever loads
 * one asks it by itself for its functions: they are probed whatever others there are.
 */
void attach_later(const struct user_context *ctx, struct user_process *process);

/* Looks into the files of a process that has ended already: others may map them, too. */
void attach_ended(const struct user_context *ctx, struct user_process *process);

#endif
