/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report after several snapshots, with the history of each site: for formats that show growth. */
#ifndef TESTS_UNIT_SINKS_STORY_H
#define TESTS_UNIT_SINKS_STORY_H

#include "sinks/sink.h"

/* What the sink makes of the last of the snapshots. */
char *print_story(const struct sink *sink, const struct snapshot *snaps, size_t cnt);

/* A slow and a fast leak, a cache that is filled, blocks that go, and one that comes late. */
extern const struct snapshot story[8];

#endif
