/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warns of losses and of estimates if the format of the report cannot show them. */
#ifndef SINKS_LOST_NOTE_H
#define SINKS_LOST_NOTE_H

#include "report/report.h"

/* Prints on stderr what was lost. If the amounts are estimates, says so, too. */
void lost_note(const struct report *report);

#endif
