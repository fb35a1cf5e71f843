/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stack in one line, as flame graphs are made of. */
#ifndef SINKS_FOLDED_H
#define SINKS_FOLDED_H

#include <stdio.h>

#include "report/report.h"

/*
 * Root first, joined by ';': the process's name, its functions, and the kind if that is not heap.
 * Printable UTF-8 without a newline, which no number after a blank can be mistaken to be part of.
 * 0 or -ENOMEM.
 */
int folded_write_stack(FILE *out, const struct report_site *shown);

#endif
