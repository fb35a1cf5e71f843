/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed between two moments, as text and as JSON ("memleak-diff/1"). */
#ifndef SINKS_DIFF_H
#define SINKS_DIFF_H

#include <stdio.h>

#include "report/diff.h"

/* Of the text, the first line and the last ones. */
void diff_write_moments(FILE *out, const struct diff *diff);
void diff_write_sums(FILE *out, const struct diff *diff);

void diff_write_text(FILE *out, const struct diff *diff);
void diff_write_json(FILE *out, const struct diff *diff);

#endif
