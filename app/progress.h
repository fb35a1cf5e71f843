/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who sits at a terminal is told what a report waits for. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "symbolizer/symbolizer.h"

/* From now on, if stderr is a terminal: in a line that goes again. */
void progress_show(struct symbolizer *sym);

#endif
