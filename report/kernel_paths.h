/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blames one function for kernel stacks that grow together. Such stacks belong to one object, such
 * as a socket, that a system call makes: the object has several blocks, each allocated by another
 * function.
 */
#ifndef REPORT_KERNEL_PATHS_H
#define REPORT_KERNEL_PATHS_H

#include "report/report_site.h"

/*
 * Blames one function for all kernel paths (growing stacks) that begin with the same system call,
 * or with the same function of a kernel thread: the innermost function through which nearly all of
 * their growth goes. A path that does not go through this function is blamed on its own, or
 * together with similar paths.
 *
 * A doubtful path (site_order.h) can only be a companion of other paths: it joins paths of its
 * owner if it does not have many more blocks than they have; otherwise it is excluded. The paths
 * must have names and histories. Returns 0 or -ENOMEM.
 */
int kernel_paths_blame(struct report_site *paths, size_t cnt);

/* True if the function only enters the kernel, or only passes on a system call. */
bool kernel_frame_is_entry(const struct sym_location *location);

#endif
