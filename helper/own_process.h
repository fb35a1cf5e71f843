/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that was forked does first, so that nothing of its parent's is in its way. */
#ifndef HELPER_OWN_PROCESS_H
#define HELPER_OWN_PROCESS_H

#include <stddef.h>

/*
 * The terminal's signals and requests are for the parent, which ends us; all others do what they
 * usually do.
 */
void own_process_reset_signals(void);

/*
 * Keeps these open files, at most 8, which are 3, 4 ... from then on and closed on exec. The first
 * three are /dev/null, and all others are closed.
 */
void own_process_keep_files(const int *files, size_t cnt);

#endif
