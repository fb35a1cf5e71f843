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
 * Blames one function for all kernel paths (growing stacks) that begin with the same system call,
 * or with the same function of a kernel thread: the innermost function through which nearly all of
 * their growth goes. Then does the same for the paths that do not go through this function.
 *
 * A doubtful path (site_order.h), or one whose blocks are attached to other objects, can only be a
 * companion: it joins other paths of the same owner if it does not grow by many more blocks per
 * second than these paths; otherwise it is excluded. Memory of tracers is excluded, too. Page
 * tables of user memory are reported as such, without a function. The paths must have names and
 * histories. Returns 0 or -ENOMEM.
 */
int kernel_paths_blame(struct report_site *paths, size_t cnt);

/* True if the function only enters the kernel, or only passes on a system call. */
bool kernel_frame_is_entry(const struct sym_location *location);

#endif
