/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the shared memory in which libmemleak.so has tracked allocations (its account) in a core
 * file.
 */
#ifndef APP_CORE_ACCOUNT_H
#define APP_CORE_ACCOUNT_H

#include "proof/core_file.h"

/*
 * Excludes the agent's shared memory (its account) from the core's content and from the count of
 * absent bytes: it contains no pointers of the program. Must be called before the core's memory is
 * read.
 */
void core_account_leave_out(struct core_file *core);

#endif
