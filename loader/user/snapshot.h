/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a snapshot of the outstanding memory of the traced processes. */
#ifndef LOADER_USER_SNAPSHOT_H
#define LOADER_USER_SNAPSHOT_H

#include "loader/user/process_set.h"

/*
 * Reads all outstanding blocks at t0_ns; the mapping records must have been applied up to t0_ns.
 * Changes only cached stacks and code. The snapshot copies peak, which may be NULL. Returns 0 or a
 * negative errno.
 */
int user_snapshot_read(struct process_set *set, uint64_t t0_ns, const struct peak *peak,
		       struct snapshot *ret);

#endif
