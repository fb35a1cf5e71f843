/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces allocations of the kernel, for all or for some processes. */
#ifndef LOADER_KERNEL_SOURCE_H
#define LOADER_KERNEL_SOURCE_H

#include "loader/source.h"

/*
 * Loads and attaches the BPF programs. If pids are given, only allocations on behalf of these
 * processes are traced. opts and symbolizer must outlive the source. Returns 0 or a negative errno;
 * logs errors.
 */
int kernel_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		       size_t pid_cnt, struct source **ret);

#endif
