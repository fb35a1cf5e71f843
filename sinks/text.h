/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first lines of a report for people, which a page has, too. */
#ifndef SINKS_TEXT_H
#define SINKS_TEXT_H

#include "sinks/text_part.h"

/* Who it is and how much, what is missing, what is lost and what grows. */
void text_write_head(const struct text_part *part);

#endif
