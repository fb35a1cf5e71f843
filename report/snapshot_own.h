/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cuts a snapshot off from what it was made of: afterwards the source may free or change all that.
 * Who made the snapshot it does not know.
 */
#ifndef REPORT_SNAPSHOT_OWN_H
#define REPORT_SNAPSHOT_OWN_H

#include "report/snapshot.h"

/*
 * Puts copies in the arena of all that the snapshot points to, and points there; its arrays are its
 * own already. Frames are copied one site after the other. 0 or -ENOMEM; the snapshot may then only
 * be freed.
 */
int snapshot_own(struct snapshot *snap);

#endif
