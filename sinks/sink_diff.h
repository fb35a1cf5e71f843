/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has changed between two moments, as text and as JSON ("memleak-diff/1"). */
#ifndef SINK_DIFF_H
#define SINK_DIFF_H

#include <stdio.h>

#include "recording/diff.h"

void sink_diff_write_text(FILE *out, const struct diff *diff);
void sink_diff_write_json(FILE *out, const struct diff *diff);

#endif
