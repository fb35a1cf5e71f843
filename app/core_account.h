/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the account that libmemleak.so has left in the core of a program. */
#ifndef APP_CORE_ACCOUNT_H
#define APP_CORE_ACCOUNT_H

#include "proof/core_file.h"

/*
 * Excludes the account from the content of the core and from its absent bytes, because it holds no
 * pointers of the program. Called before the core's memory is read.
 */
void core_account_leave_out(struct core_file *core);

#endif
