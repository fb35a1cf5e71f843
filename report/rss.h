/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resident memory of a process, divided by what it is used for. All numbers are bytes of pages
 * in memory, and the parts add up to Rss of /proc/PID/smaps.
 */
#ifndef REPORT_RSS_H
#define REPORT_RSS_H

#include <stdbool.h>
#include <stdint.h>

enum rss_part {
	RSS_LIVE,      /* blocks in use, with their headers, and glibc's own structures */
	RSS_PINNED,    /* free, on pages that hold live blocks or headers */
	RSS_TRIMMABLE, /* whole pages in free chunks: malloc_trim() would return them */
	RSS_TOP,       /* at the ends of heaps, where new blocks are cut from */
	RSS_MAPPED,    /* other anonymous memory: mmap() of the program, other allocators */
	RSS_STACKS,
	RSS_FILES, /* code and data of mapped files */
	RSS_SHARED,
	RSS_OTHER, /* kernel mappings, and what changed while it was counted */
	RSS_PART_CNT,
};

struct rss {
	uint64_t parts[RSS_PART_CNT];
	uint64_t arenas;         /* of glibc, whose chunks were counted */
	uint64_t skipped_arenas; /* that did not add up: their memory is in RSS_MAPPED */
};

uint64_t rss_total(const struct rss *rss);

/* Returns the bytes that glibc keeps: pinned, trimmable and top. */
uint64_t rss_kept(const struct rss *rss);

/* Returns the name of a part in reports for programs, such as "live". */
const char *rss_part_name(enum rss_part part);

#endif
