/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the pages of a process that are in memory, from /proc/PID/pagemap. Reads the entries of
 * many pages at a time.
 */
#ifndef PROOF_RESIDENT_PAGES_H
#define PROOF_RESIDENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define RESIDENT_WINDOW 2048U /* number of entries to read at a time */

enum residence {
	PAGE_ABSENT, /* never used, swapped out, or the zero page that all processes share */
	PAGE_OWN,    /* anonymous page of a private mapping */
	PAGE_OF_FILE /* page of a file, or shared memory */
};

struct resident_pages {
	int pagemap_fd;
	uint64_t page_size;
	uint64_t zero_frame; /* frame number of the zero page, 0 if unknown */
	uint64_t first;      /* page number (address / page_size) of the first entry in `entries` */
	uint64_t cnt;        /* number of entries in `entries` */
	uint64_t entries[RESIDENT_WINDOW];
};

enum residence resident_page(struct resident_pages *pages, uint64_t addr);

#endif
