/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds, in the core file of a program, the account that libmemleak.so kept in that program. */
#ifndef APP_CORE_ACCOUNT_H
#define APP_CORE_ACCOUNT_H

#include "proof/core_file.h"

/*
 * Excludes the account from the core's content and from its count of absent bytes, because the
 * account contains no pointers of the program. Must be called before the core's memory is read.
 */
void core_account_leave_out(struct core_file *core);

#endif
