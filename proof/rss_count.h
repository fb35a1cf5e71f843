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
 * The blocks that memleak tracks, sorted by address. is_known: false if not all of these blocks are
 * known; then there are no items.
 */
struct rss_blocks {
	bool is_known;
	struct heap_block *items;
	size_t cnt;
};

/*
 * Counts the resident memory while the process runs. If the process changes an arena during the
 * count, the sums are approximate. Does not cause pages to be loaded into memory. The pinned bytes
 * of a page are divided equally among the used chunks on the page; *ret_pinners lists the sites
 * whose blocks pin the most bytes. original: if `files` and `smaps` are of a copy of the process,
 * the mappings of the process itself, else NULL. It is needed because the copy lacks pages of files
 * and memory that children do not inherit. Returns 0, -ESRCH if the process has ended, or -ENOMEM.
 */
int rss_count(const struct rss_files *files, const struct rss_blocks *blocks,
	      const struct smaps *smaps, const struct smaps *original, struct rss *ret,
	      struct rss_pinners *ret_pinners);

#endif
