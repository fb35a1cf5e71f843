/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the sites of a snapshot by the threads that allocated their blocks. */
#ifndef THREAD_SPLIT_H
#define THREAD_SPLIT_H

#include "report/snapshot.h"

/*
 * Each site becomes one for each thread, with an id of its own; the snapshot must have all
 * blocks. last_ns: elapsed_ns of the one before; 0: there was none. -ENOMEM: it is as it was, but
 * for the order of its blocks.
 */
int thread_split(struct snapshot *snap, uint64_t last_ns);

#endif
