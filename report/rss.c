// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes sums of the parts of resident memory, and names the parts. */
#include "report/rss.h"

static const char *const part_names[] = {
	[RSS_LIVE] = "live",   [RSS_PINNED] = "pinned", [RSS_TRIMMABLE] = "trimmable",
	[RSS_TOP] = "top",     [RSS_MAPPED] = "mapped", [RSS_STACKS] = "stacks",
	[RSS_FILES] = "files", [RSS_SHARED] = "shared", [RSS_OTHER] = "other",
};

_Static_assert(sizeof(part_names) / sizeof(*part_names) == RSS_PART_CNT, "each part has a name");

const char *rss_part_name(enum rss_part part)
{
	return part_names[part];
}

uint64_t rss_total(const struct rss *rss)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < RSS_PART_CNT; i++)
		sum += rss->parts[i];
	return sum;
}

uint64_t rss_kept(const struct rss *rss)
{
	return rss->parts[RSS_PINNED] + rss->parts[RSS_TRIMMABLE] + rss->parts[RSS_TOP];
}
