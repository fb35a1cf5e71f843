/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a BPF object has counted, for snapshots. */
#ifndef TRACKER_FIGURES_H
#define TRACKER_FIGURES_H

#include "loader/tracker.h"

/* Losses, calls and figures; with --stats the fill of its tables, which takes a walk over them. */
int tracker_figures_read(struct tracker *tracker, struct snapshot *snap);

#endif
