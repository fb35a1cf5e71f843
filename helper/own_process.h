/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Separates a forked process from its parent's signals and open files. */
#ifndef HELPER_OWN_PROCESS_H
#define HELPER_OWN_PROCESS_H

#include <stddef.h>

/*
 * Ignores SIGPIPE, SIGXFSZ, and signals that are meant for the parent: those from the terminal, and
 * requests to memleak (base/signals.h). Resets all other signals to their defaults.
 */
void own_process_reset_signals(void);

/*
 * Moves the given open files, at most 8, to descriptors 3, 4 and so on, with O_CLOEXEC. Opens
 * /dev/null as descriptors 0 to 2 (0 and 1 in builds with AddressSanitizer, which writes to 2), and
 * closes all other descriptors.
 */
void own_process_keep_files(const int *files, size_t cnt);

#endif
