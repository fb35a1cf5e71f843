/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel stacks that grow together: one object that a system call makes, such as a socket, has
 * several blocks, each allocated by another function.
 */
#ifndef REPORT_KERNEL_PATHS_H
#define REPORT_KERNEL_PATHS_H

#include "report/report_site.h"

/*
 * Blames one function for all kernel paths that begin with the same system call, or with the same
 * function of a kernel thread: the innermost function that nearly all of their growth goes through.
 * A path beside that function is blamed by itself, or with others like it. A doubtful path
 * (site_order.h) is only a companion: it joins others that have its owner and at least about as
 * many blocks, or is excluded. The paths have names and histories. 0 or -ENOMEM.
 */
int kernel_paths_blame(struct report_site *paths, size_t cnt);

/* True if the function only enters the kernel, or passes a system call on. */
bool kernel_frame_is_entry(const struct sym_location *location);

#endif
