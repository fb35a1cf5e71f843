/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blames one function for kernel stacks that grow together. An object that a system call makes,
 * such as a socket, has several blocks, each allocated by a different function. So if such objects
 * leak, several stacks grow.
 */
#ifndef REPORT_KERNEL_PATHS_H
#define REPORT_KERNEL_PATHS_H

#include "report/report_site.h"

/*
 * Blames one function for all kernel paths (growing stacks) that belong together: the innermost
 * function through which nearly all of their growth goes. Then does the same for the paths that do
 * not go through this function. Paths belong together if they have the same owner and begin with
 * the same system call, or with the same function of a kernel thread.
 *
 * A path is never blamed on its own if it is doubtful (site_order.h) or if its blocks are attached
 * to other objects. Such a path can be a companion: it joins other paths of the same owner, unless
 * it grows by many more blocks per second than they do. If it joins none, it is excluded. Memory of
 * tracers is excluded, too. Page tables of user memory are reported as such, without a function.
 * The paths must have names and histories. Returns 0 or -ENOMEM.
 */
int kernel_paths_blame(struct report_site *paths, size_t cnt);

/* True if the function only enters the kernel, or only passes on a system call. */
bool kernel_frame_is_entry(const struct sym_location *location);

#endif
