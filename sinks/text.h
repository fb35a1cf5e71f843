/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the first lines of a report for people. HTML pages have the same lines. */
#ifndef SINKS_TEXT_H
#define SINKS_TEXT_H

#include "sinks/text_part.h"

/* Writes the target, the totals, what is incomplete, what is lost, and what grows. */
void text_write_head(const struct text_part *part);

#endif
