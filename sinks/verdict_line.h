/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line for people about what is lost, or seems to leak. */
#ifndef SINKS_VERDICT_LINE_H
#define SINKS_VERDICT_LINE_H

#include "sinks/text_part.h"

/*
 * Who it is, through which call, and how fast it grows, for how long, by how many paths. Of a line
 * that gets too long callers are left out first, but the nearest only behind the others where no
 * line of source is known; then the score, the blocks and the manner; then names are cut.
 */
void verdict_write_line(const struct text_part *part, const struct suspect *suspect);
/* The same of what is lost: how much, how much with it, for how long, and how fast. */
void verdict_write_loss(const struct text_part *part, const struct proven_loss *loss);

/* Writes a function of a stack, with its line of source if that is known. */
void verdict_write_function(FILE *out, const struct report_site *site, struct place place);

/* Whether it is but a part of what report->unclear may grow by. */
bool verdict_is_part(const struct report *report, const struct suspect *suspect);

/* What may grow without being a suspect. */
void verdict_write_undecided(const struct text_part *part);
void verdict_write_between_steps(const struct text_part *part);
void verdict_write_unclear(const struct text_part *part, const struct pool *pool);
void verdict_write_settling(const struct text_part *part, const struct report_site *path);

#endif
