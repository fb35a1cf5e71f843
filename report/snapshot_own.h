/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a snapshot independent of its source, which may afterwards free or change its data. Knows
 * nothing of the source.
 */
#ifndef REPORT_SNAPSHOT_OWN_H
#define REPORT_SNAPSHOT_OWN_H

#include "report/snapshot.h"

/*
 * Copies all data that a snapshot points to into its arena. The snapshot must already own its
 * arrays. Frames are copied site by site. Returns 0 or -ENOMEM; after a failure the snapshot can
 * only be freed.
 */
int snapshot_own(struct snapshot *snap);

#endif
