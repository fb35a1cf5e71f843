/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a stack as one line of a flame graph's input. */
#ifndef SINKS_FOLDED_H
#define SINKS_FOLDED_H

#include <stdio.h>

#include "report/report.h"

/*
 * Writes a stack, root first, joined by ';': the name of the process, its functions, and the kind
 * if it is not heap. The text is printable UTF-8 without newlines and cannot be confused with the
 * count that follows after a blank. Returns 0 or -ENOMEM.
 */
int folded_write_stack(FILE *out, const struct report_site *shown);

#endif
