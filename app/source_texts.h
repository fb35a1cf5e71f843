/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the source lines of a report's frames, for HTML pages (--source). */
#ifndef APP_SOURCE_TEXTS_H
#define APP_SOURCE_TEXTS_H

#include "base/hash_map.h"
#include "base/source_lines.h"
#include "report/report.h"

/* A zeroed struct with `lines` set is valid. */
struct source_texts {
	struct source_lines *lines;
	/*
	 * The values of owner_of() by number of the process's exec image. They are also needed
	 * after the process has ended.
	 */
	struct hash_map owners;
};

void source_texts_deinit(struct source_texts *texts);

/*
 * Reads the source lines of all shown sites, so that sinks can show them. Sites get none if, for
 * their process, the same paths name other files than for memleak.
 */
void source_texts_add(struct source_texts *texts, struct report *report);

#endif
