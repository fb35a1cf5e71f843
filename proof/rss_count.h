/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Divides the resident memory of a process among its parts, from files of /proc that are open. */
#ifndef PROOF_RSS_COUNT_H
#define PROOF_RSS_COUNT_H

#include "proof/smaps.h"
#include "report/rss.h"

struct rss_files {
	int mem_fd;          /* /proc/PID/mem */
	int pagemap_fd;      /* /proc/PID/pagemap */
	uint64_t zero_frame; /* see resident_pages.h */
	uint64_t page_size;
};

/*
 * Counts while the process runs: an arena that it changes meanwhile may be skipped. Pages that are
 * not in memory are not touched. 0 or -ENOMEM.
 */
int rss_count(const struct rss_files *files, const struct smaps *smaps, struct rss *ret);

#endif
