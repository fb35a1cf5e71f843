/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the sites of a snapshot by the threads that allocated their blocks. */
#ifndef THREAD_SPLIT_H
#define THREAD_SPLIT_H

#include "report/snapshot.h"

/*
 * Each site becomes one for each thread, with an id of its own; the snapshot must have all
 * blocks. -ENOMEM: it is as it was.
 */
int thread_split(struct snapshot *snap);

#endif
