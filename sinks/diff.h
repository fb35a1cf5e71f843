/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the differences between two snapshots, as text and as JSON ("memleak-diff/1"). */
#ifndef SINKS_DIFF_H
#define SINKS_DIFF_H

#include <stdio.h>

#include "report/diff.h"

/*
 * diff_write_moments() writes the first line of the text, with the times of both snapshots.
 * diff_write_sums() writes its last lines: the numbers of stacks, the totals, and the change of
 * resident memory.
 */
void diff_write_moments(FILE *out, const struct diff *diff);
void diff_write_sums(FILE *out, const struct diff *diff);

void diff_write_text(FILE *out, const struct diff *diff);
void diff_write_json(FILE *out, const struct diff *diff);

#endif
