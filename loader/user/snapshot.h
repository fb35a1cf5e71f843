/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the traced processes have outstanding, as a snapshot. */
#ifndef LOADER_USER_SNAPSHOT_H
#define LOADER_USER_SNAPSHOT_H

#include "loader/user/process_set.h"

/*
 * What there was at t0_ns, until which mappings have been told. Changes nothing but what is known
 * of stacks and code. The snapshot has a copy of the peak, unless that is NULL. 0 or a negative
 * errno.
 */
int user_snapshot_read(struct process_set *set, uint64_t t0_ns, const struct peak *peak,
		       struct snapshot *ret);

#endif
