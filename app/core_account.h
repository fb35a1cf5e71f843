/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of an agent in a core: its head, of a program that was run with libmemleak.so. */
#ifndef APP_CORE_ACCOUNT_H
#define APP_CORE_ACCOUNT_H

#include "proof/core_file.h"

/*
 * Leaves it out of what the core has, and of what is absent from it: no pointers of the program are
 * in it. Before the core's memory is looked at.
 */
void core_account_leave_out(struct core_file *core);

#endif
