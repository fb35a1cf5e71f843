/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds and probes the allocator functions of a process. Does not decide when a process is searched
 * again, or what happens to its probes later.
 */
#ifndef LOADER_USER_ATTACH_H
#define LOADER_USER_ATTACH_H

#include "loader/user/process.h"

/*
 * Probes the allocator functions of all files that the process maps now and that are not probed
 * yet. Returns 0; -EAGAIN if the process is still loading libraries, files were postponed (all
 * other files are probed), or its memory map stays locked (no file is probed); -ENOENT if no
 * allocator function can be probed; or another negative errno. Failures other than -EAGAIN are
 * logged, unless the process was found by a filter.
 */
int attach_process(const struct user_context *ctx, struct user_process *process);

/*
 * Probes files that the process has mapped since attach_process() probed all of its files. The new
 * files were loaded by name (dlopen), so all of their allocator functions are probed, even
 * functions that another file defines earlier in lookup order.
 */
void attach_later(const struct user_context *ctx, struct user_process *process);

/* Probes the files that an ended process had mapped, because other processes may map them. */
void attach_ended(const struct user_context *ctx, struct user_process *process);

#endif
