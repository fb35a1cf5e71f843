/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes facts about a core file and its process. In a report, these come before the blocks. */
#ifndef SINKS_CORE_H
#define SINKS_CORE_H

#include <stdio.h>

#include "report/core_facts.h"
#include "sinks/json_writer.h"

void core_write_text(FILE *out, const struct core_facts *core);
/* Writes the JSON key "core". */
void core_write_json(struct json_writer *json, const struct core_facts *core);

#endif
