/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of reading the memory of a running process. */
#ifndef PROOF_RSS_READING_H
#define PROOF_RSS_READING_H

#include "report/python_growth.h"
#include "report/rss.h"

struct rss_reading {
	struct rss rss;
	/*
	 * the sites whose blocks pin the most memory; their indexes come unchecked from the helper
	 */
	struct rss_pinners pinners;
	struct python_growth python;
	/*
	 * Site index of the block with the items of each element of python.containers;
	 * HEAP_BLOCK_NO_SITE if unknown. The indexes come unchecked from the helper.
	 */
	uint32_t container_sites[PYTHON_CONTAINERS_MAX];
};

#endif
