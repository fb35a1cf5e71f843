/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a snapshot independent of its source: the source may then free or change its own data.
 * Knows nothing of the source.
 */
#ifndef REPORT_SNAPSHOT_OWN_H
#define REPORT_SNAPSHOT_OWN_H

#include "report/snapshot.h"

/*
 * Copies to the snapshot's arena everything that the snapshot points to, except its arrays, which
 * the snapshot must own already. Frames are copied site by site. Returns 0 or -ENOMEM. After a
 * failure, the snapshot can only be freed.
 */
int snapshot_own(struct snapshot *snap);

#endif
