/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --fds: compares tracked descriptors with the open descriptors in /proc. Finds descriptors that
 * were opened before tracing, descriptors whose opening was missed, and descriptors whose closing
 * was missed.
 */
#ifndef LOADER_USER_DESCRIPTORS_H
#define LOADER_USER_DESCRIPTORS_H

#include "loader/user/process_set.h"

/* Stores which descriptors of the processes are already open. Call when tracing begins. */
void descriptors_begin(struct process_set *set);

/* Reads which descriptors are open now. Call before the block tables are read. */
void descriptors_read(struct process_set *set);
/*
 * Callback is_gone() of the tracker, which is called for each tracked descriptor. set: the
 * process_set. Notes that the descriptor is tracked. Returns true if the descriptor is no longer
 * open: its close() was missed, or its process has ended while other processes still run.
 */
bool descriptors_are_gone(void *set, const struct memleak_block_key *key,
			  const struct memleak_block *block);
/* Compares the open descriptors with the tracked descriptors and counts the differences. */
struct descriptor_facts descriptors_compare(struct process_set *set);

#endif
