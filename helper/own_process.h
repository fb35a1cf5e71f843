/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Separates a forked process from its parent's signals and open files. */
#ifndef HELPER_OWN_PROCESS_H
#define HELPER_OWN_PROCESS_H

#include <stddef.h>

/*
 * Ignores signals from the terminal and memleak's request signals, which are for the parent, and
 * resets all others to their defaults.
 */
void own_process_reset_signals(void);

/*
 * Moves these open files, at most 8, to descriptors 3, 4 ... with O_CLOEXEC. Descriptors 0 to 2
 * become /dev/null; all others are closed.
 */
void own_process_keep_files(const int *files, size_t cnt);

#endif
