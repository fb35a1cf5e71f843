/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows progress on a terminal while a report is not ready. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "symbolizer/symbolizer.h"

/*
 * If stderr is a terminal, makes the symbolizer show its progress there from now on. The text is
 * removed each time the symbolizer has finished.
 */
void progress_show(struct symbolizer *sym);

#endif
