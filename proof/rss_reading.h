/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of reading the memory of a running process. */
#ifndef PROOF_RSS_READING_H
#define PROOF_RSS_READING_H

#include "report/python_growth.h"
#include "report/rss.h"

struct rss_reading {
	struct rss rss;
	/* sites whose blocks pin most; their indexes come unchecked from the helper */
	struct rss_pinners pinners;
	struct python_growth python;
	/*
	 * For each container, the index of the site whose block has its items, or
	 * HEAP_BLOCK_NO_SITE. The indexes come unchecked from the helper.
	 */
	uint32_t container_sites[PYTHON_CONTAINERS_MAX];
};

#endif
