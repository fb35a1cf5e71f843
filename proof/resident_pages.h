/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says which pages of a process are in memory, from /proc/PID/pagemap, several at a time. */
#ifndef PROOF_RESIDENT_PAGES_H
#define PROOF_RESIDENT_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#define RESIDENT_WINDOW 2048U /* pages that are read at a time */

enum residence {
	PAGE_ABSENT, /* never used, swapped out, or the page of zeros that all processes share */
	PAGE_OWN,    /* memory of the process alone */
	PAGE_OF_FILE /* of a file, or shared */
};

struct resident_pages {
	int pagemap_fd;
	uint64_t page_size;
	uint64_t zero_frame; /* number of the frame that holds only zeros; 0 if it is not known */
	uint64_t first;      /* page number of the first entry */
	uint64_t cnt;        /* of entries that were read */
	uint64_t entries[RESIDENT_WINDOW];
};

enum residence resident_page(struct resident_pages *pages, uint64_t addr);

#endif
