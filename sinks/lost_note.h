/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warns of losses and estimates if the format has no place for them. */
#ifndef SINKS_LOST_NOTE_H
#define SINKS_LOST_NOTE_H

#include "report/snapshot.h"

/* Prints on stderr what was lost, and that amounts are estimates if they are. */
void lost_note(const struct snapshot *snap);

#endif
