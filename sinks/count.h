/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reports of --count, in both formats. */
#ifndef SINKS_COUNT_H
#define SINKS_COUNT_H

#include <stdio.h>

#include "report/counts.h"

void count_write_text(FILE *out, const struct counts_report *report);
/* One object and line, "memleak-count/1". */
void count_write_json(FILE *out, const struct counts_report *report);

#endif
