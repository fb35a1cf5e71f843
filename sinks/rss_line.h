/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line for people about what resident memory is used for, and a sentence if the allocator keeps
 * much of it.
 */
#ifndef SINKS_RSS_LINE_H
#define SINKS_RSS_LINE_H

#include <stdio.h>

#include "report/rss.h"
#include "sinks/json_writer.h"

/* first: what it was at the start, so that what has changed since is said; NULL if not known. */
void rss_write_line(FILE *out, const struct rss *rss, const struct rss *first);

/* Writes the object "memory": bytes of each part, their sum as "rss", and numbers of arenas. */
void rss_write_json(struct json_writer *json, const struct rss *rss);

#endif
