/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a snapshot of the outstanding memory of the traced processes. */
#ifndef LOADER_USER_SNAPSHOT_H
#define LOADER_USER_SNAPSHOT_H

#include "loader/user/process_set.h"

/*
 * Reads all blocks that are outstanding at t0_ns. All records of mappings until t0_ns must have
 * been applied. peak: copied into the snapshot; may be NULL. Changes nothing in the set but caches
 * and values that each snapshot sets anew. Returns 0 or a negative errno.
 */
int user_snapshot_read(struct process_set *set, uint64_t t0_ns, const struct peak *peak,
		       struct snapshot *ret);

#endif
