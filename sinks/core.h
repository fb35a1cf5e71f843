/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes facts about a core file and its process. In a report, these come before the blocks. */
#ifndef SINKS_CORE_H
#define SINKS_CORE_H

#include "sinks/json_writer.h"
#include "sinks/text_part.h"

void core_write_text(const struct text_part *part);
/* Writes the JSON key "core". */
void core_write_json(struct json_writer *json, const struct core_facts *core);

#endif
