/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes what was suppressed, and proposes patterns for suppressions. */
#ifndef SINKS_SUPPRESSIONS_H
#define SINKS_SUPPRESSIONS_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

/*
 * Writes a line with the sum of the blocks that patterns suppressed; nothing if no block was
 * suppressed.
 */
void suppressions_write_text(const struct text_part *part);
/*
 * Writes a line with the sum of the blocks that C and C++ libraries allocate for themselves at
 * start-up. Writes nothing if the report shows these blocks, or if there are none.
 */
void suppressions_write_runtime_init(const struct text_part *part);
/* Writes the JSON keys "suppressed", which has an entry for each pattern, and "start_up". */
void suppressions_write_json(struct json_writer *json, const struct report *report);

/*
 * Writes suppressions for the shown sites, for --gen-suppressions. The text can be used as a
 * suppression file.
 */
void suppressions_propose_text(const struct text_part *part);
/*
 * Writes the JSON key "suppression": a pattern for the site, or null if the function blamed for the
 * site has no name.
 */
void suppressions_propose_json(struct json_writer *json, const struct report_site *shown);

#endif
