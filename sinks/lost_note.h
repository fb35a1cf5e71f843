/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was lost, and that all are estimates, for formats that have no place for it. */
#ifndef SINKS_LOST_NOTE_H
#define SINKS_LOST_NOTE_H

#include "report/snapshot.h"

/* Says it on stderr. */
void lost_note(const struct snapshot *snap);

#endif
