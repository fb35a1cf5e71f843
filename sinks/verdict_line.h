/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes one line for people about a loss or a suspect. */
#ifndef SINKS_VERDICT_LINE_H
#define SINKS_VERDICT_LINE_H

#include "sinks/text_part.h"

/*
 * Writes the line of a suspect: the blamed function, the library function that it called, the rate
 * and the duration of the growth, and the number of paths (stacks). If the line is too long, leaves
 * out details in this order: all callers but the nearest, how many blocks were freed, the manner of
 * growth. If it is still too long, leaves out all callers, but writes the other details again as
 * far as they fit. Finally cuts names.
 */
void verdict_write_line(const struct text_part *part, const struct suspect *suspect);
/*
 * Writes the line of a loss: the blamed function, the amount lost, the amount that is reachable
 * only from lost blocks, the duration and the rate.
 */
void verdict_write_loss(const struct text_part *part, const struct proven_loss *loss);

/*
 * verdict_suspect_line() returns the line of a suspect, verdict_loss_line() the line of a proven
 * loss. The line has no newline, is to be freed, and leaves room for `taken` bytes before it. Both
 * functions return NULL if out of memory.
 */
char *verdict_suspect_line(const struct text_part *part, const struct suspect *suspect,
			   size_t taken);
char *verdict_loss_line(const struct text_part *part, const struct proven_loss *loss, size_t taken);

/* Writes the name of a function on a stack, with its source line if that is known. */
void verdict_write_function(FILE *out, const struct report_site *site, struct stack_pos pos);

/*
 * True if the suspect is a part of the pool report->unclear. The whole pool may grow faster than
 * the suspect.
 */
bool verdict_is_part(const struct report *report, const struct suspect *suspect);

/*
 * verdict_write_undecided() writes the line about sites whose growth may replace blocks from before
 * tracing began. verdict_write_pending() writes the line about sites whose growth may still
 * continue.
 */
void verdict_write_undecided(const struct text_part *part);
void verdict_write_pending(const struct text_part *part);
void verdict_write_unclear(const struct text_part *part, const struct pool *pool);
void verdict_write_settling(const struct text_part *part, const struct report_site *path);

#endif
