/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the source lines of a report's frames, for pages (--source). */
#ifndef APP_SOURCE_TEXTS_H
#define APP_SOURCE_TEXTS_H

#include "base/hash_map.h"
#include "base/source_lines.h"
#include "report/report.h"

/* A zeroed struct with `lines` set is valid. */
struct source_texts {
	struct source_lines *lines;
	/*
	 * Owners of files by process image, as value_of() returns them. They are needed after the
	 * process has ended, too.
	 */
	struct hash_map owners;
};

void source_texts_deinit(struct source_texts *texts);

/*
 * Reads source lines of the shown sites, and makes them available to sinks. Sites of processes that
 * see other files under the same names get none.
 */
void source_texts_add(struct source_texts *texts, struct report *report);

#endif
