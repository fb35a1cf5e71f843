/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blames one function for kernel stacks that grow together: an object that a system call makes,
 * such as a socket, has several blocks, each allocated by another function.
 */
#ifndef REPORT_KERNEL_PATHS_H
#define REPORT_KERNEL_PATHS_H

#include "report/report_site.h"

/*
 * Blames one function for all kernel paths that begin with the same system call, or with the same
 * function of a kernel thread: the innermost function that nearly all of their growth goes through.
 * A path that does not go through the function is blamed alone, or together with similar paths. A
 * doubtful path (site_order.h) is only a companion: it joins paths that have its owner and at least
 * about as many blocks, or is excluded. The paths must have names and histories. Returns 0 or
 * -ENOMEM.
 */
int kernel_paths_blame(struct report_site *paths, size_t cnt);

/* True if the function only enters the kernel, or passes a system call on. */
bool kernel_frame_is_entry(const struct sym_location *location);

#endif
