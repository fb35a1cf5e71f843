/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits the sites of a snapshot by the threads that allocated their blocks. */
#ifndef REPORT_THREAD_SPLIT_H
#define REPORT_THREAD_SPLIT_H

#include "report/snapshot_view.h"

/*
 * Splits each site into one site per thread, with new ids. The snapshot must list all blocks.
 * last_ns is the elapsed_ns of the previous snapshot, or 0 if there was none. If with_blocks is
 * false, the view gets no blocks, which saves copying them. Returns 0 or -ENOMEM; after a failure
 * the view is unchanged.
 */
int thread_split(struct snapshot_view *view, uint64_t last_ns, bool with_blocks);

#endif
