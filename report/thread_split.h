/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the sites of a snapshot by the threads that allocated their blocks. */
#ifndef REPORT_THREAD_SPLIT_H
#define REPORT_THREAD_SPLIT_H

#include "report/snapshot_view.h"

/*
 * Each site becomes one for each thread, with an id of its own; the snapshot must have all
 * blocks. last_ns: elapsed_ns of the one before; 0: there was none. with_blocks: the view shows the
 * blocks of these sites; else it has none, which saves their copy. Only -ENOMEM, which leaves the
 * view as it was.
 */
int thread_split(struct snapshot_view *view, uint64_t last_ns, bool with_blocks);

#endif
