/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes one line for people about a loss or a suspect. */
#ifndef SINKS_VERDICT_LINE_H
#define SINKS_VERDICT_LINE_H

#include "sinks/text_part.h"

/*
 * Writes the line of a suspect: the function, the call it goes through, the rate of growth, its
 * duration and the number of paths. If the line is too long, callers are left out first (the
 * nearest caller last, if no source line is known), then the score, the blocks and the kind of
 * growth; then names are cut.
 */
void verdict_write_line(const struct text_part *part, const struct suspect *suspect);
/*
 * Writes the line of a loss: the amount lost, the amount reachable from it alone, the duration and
 * the rate.
 */
void verdict_write_loss(const struct text_part *part, const struct proven_loss *loss);

/* Writes a function of a stack, with its line of source if that is known. */
void verdict_write_function(FILE *out, const struct report_site *site, struct place place);

/* True if the suspect is only a part of what report->unclear may grow by. */
bool verdict_is_part(const struct report *report, const struct suspect *suspect);

/* Write lines about growth that may exist but is not a suspect. */
void verdict_write_undecided(const struct text_part *part);
void verdict_write_between_steps(const struct text_part *part);
void verdict_write_unclear(const struct text_part *part, const struct pool *pool);
void verdict_write_settling(const struct text_part *part, const struct report_site *path);

#endif
