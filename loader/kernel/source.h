/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel source: what the kernel itself allocates, for anyone or for some processes. */
#ifndef LOADER_KERNEL_SOURCE_H
#define LOADER_KERNEL_SOURCE_H

#include "loader/source.h"

/*
 * Loads and attaches the BPF programs. pids: only what these processes ask for; none: everything.
 * Returns 0 or a negative errno; has said on stderr what failed. opts and symbolizer must outlive
 * the source.
 */
int kernel_source__new(const struct options *opts, struct symbolizer *symbolizer, const pid_t *pids,
		       size_t pid_cnt, struct source **ret);

#endif
