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
};

#endif
