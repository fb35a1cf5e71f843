/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a stack as text on one line, for programs that draw flame graphs. */
#ifndef SINKS_FOLDED_H
#define SINKS_FOLDED_H

#include <stdio.h>

#include "report/report.h"

/*
 * Writes a stack as names joined by ';': the process, the functions (outermost first), and the kind
 * of memory if it is not heap. The text is printable UTF-8 without newlines. It cannot be confused
 * with the count, which the caller writes after the text and a blank. Returns 0 or -ENOMEM.
 */
int folded_write_stack(FILE *out, const struct report_site *shown);

#endif
