/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the symbolizer's progress on a terminal. */
#ifndef APP_PROGRESS_H
#define APP_PROGRESS_H

#include "symbolizer/symbolizer.h"

/*
 * If stderr is a terminal, lets the symbolizer show its progress there from now on. Whenever the
 * symbolizer has finished, the text is removed.
 */
void progress_show(struct symbolizer *sym);

#endif
