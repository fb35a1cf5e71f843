/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fds: tracked descriptors compared with what /proc says is open: descriptors from before
 * tracing, those that were missed, and those closed unseen.
 */
#ifndef LOADER_USER_DESCRIPTORS_H
#define LOADER_USER_DESCRIPTORS_H

#include "loader/user/process_set.h"

/* Notes which descriptors of the processes are open when tracing begins. */
void descriptors_begin(struct process_set *set);

/* Reads what is open now, before the tables are read. */
void descriptors_read(struct process_set *set);
/* For the tracker, with a set as arg: notes that a block is tracked; true if it was closed unseen.
 */
bool descriptors_are_gone(void *set, const struct memleak_block_key *key,
			  const struct memleak_block *block);
/* Compares what is open with what was tracked. */
struct descriptor_facts descriptors_compare(struct process_set *set);

#endif
