/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the differences between two snapshots, as text and as JSON ("memleak-diff/1"). */
#ifndef SINKS_DIFF_H
#define SINKS_DIFF_H

#include <stdio.h>

#include "report/diff.h"

/* Write the first line and the last lines of the text. */
void diff_write_moments(FILE *out, const struct diff *diff);
void diff_write_sums(FILE *out, const struct diff *diff);

void diff_write_text(FILE *out, const struct diff *diff);
void diff_write_json(FILE *out, const struct diff *diff);

#endif
