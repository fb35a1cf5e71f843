/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the traced processes have outstanding, as a snapshot. */
#ifndef LOADER_USER_SNAPSHOT_H
#define LOADER_USER_SNAPSHOT_H

#include "loader/user/process_set.h"

/*
 * Changes nothing but what is known of stacks and code. The snapshot has a copy of the peak, unless
 * that is NULL. 0 or a negative errno.
 */
int user_snapshot_read(struct process_set *set, const struct peak *peak, struct snapshot *ret);

#endif
