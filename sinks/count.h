/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes reports of --count, as text and as JSON. */
#ifndef SINKS_COUNT_H
#define SINKS_COUNT_H

#include <stdio.h>

#include "report/counts.h"

void count_write_text(FILE *out, const struct counts_report *report);
/* Writes one line, which is a JSON object of the schema "memleak-count/1". */
void count_write_json(FILE *out, const struct counts_report *report);

#endif
