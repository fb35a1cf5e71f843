/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts the resident memory of a process by use: live blocks, stacks, files, and so on. Reads open
 * files of /proc/PID.
 */
#ifndef PROOF_RSS_COUNT_H
#define PROOF_RSS_COUNT_H

#include "proof/resident_memory.h"
#include "proof/smaps.h"
#include "report/heap_block.h"
#include "report/rss.h"

/*
 * The blocks that memleak tracks, sorted by address. is_known: false if some blocks are unknown;
 * then there are no items.
 */
struct rss_blocks {
	bool is_known;
	struct heap_block *items;
	size_t cnt;
};

/*
 * Counts the resident memory while the process runs. If the process changes an arena during the
 * count, the sums are approximate. Does not read pages that are not in memory. The pinned bytes of
 * a page are divided equally among the used chunks on it; *ret_pinners has the sums of the sites
 * that pin most. original: NULL, or the mappings of the running process if `files` and `smaps` are
 * of a copy of it; a copy lacks pages of files, and memory that children do not inherit. Returns 0,
 * -ESRCH if the process has ended, or -ENOMEM.
 */
int rss_count(const struct rss_files *files, const struct rss_blocks *blocks,
	      const struct smaps *smaps, const struct smaps *original, struct rss *ret,
	      struct rss_pinners *ret_pinners);

#endif
