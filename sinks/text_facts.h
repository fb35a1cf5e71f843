/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes facts about the report as a whole, for people. */
#ifndef SINKS_TEXT_FACTS_H
#define SINKS_TEXT_FACTS_H

#include "sinks/text_part.h"

/*
 * Writes "; all stacks are complete", or the percentage of bytes with complete stacks. Writes
 * nothing for a core file, or if nothing is outstanding.
 */
void text_write_complete(FILE *out, const struct report *report);

/*
 * Writes a line for each kind of loss that is due to a full table, a full quota or a lack of
 * memory, if more than 1 % of the allocations (for lost stacks: of the bytes) were affected.
 */
void text_write_incomplete(FILE *out, const struct report *report);

/*
 * Writes the last lines of a report: totals, their accuracy, what was lost. `has_head` is true if
 * the report begins with text_write_head(), which has already written how many stacks are complete.
 */
void text_write_facts(const struct text_part *part, bool has_head);

/*
 * Writes what was traced, such as "leak (4711)", "several processes" or "the kernel". If there is
 * no site, writes "nothing outstanding", unless exactly one process is traced.
 */
void text_write_target(FILE *out, const struct report *report);

#endif
