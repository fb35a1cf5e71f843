/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows progress on a terminal while a report is not ready. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "symbolizer/symbolizer.h"

/*
 * Shows the progress of the symbolizer from now on, if stderr is a terminal. The text is removed at
 * the end.
 */
void progress_show(struct symbolizer *sym);

#endif
