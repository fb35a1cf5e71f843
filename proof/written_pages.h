/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which pages of a live process hold something that it may have written there: by its page tables,
 * and for memory that it shares, by the file behind. Large ranges that were never touched cost next
 * to nothing where the kernel scans (since 6.7); elsewhere 8 bytes are read for each page.
 */
#ifndef PROOF_WRITTEN_PAGES_H
#define PROOF_WRITTEN_PAGES_H

#include <stdbool.h>

#include "proof/memory.h"

struct written_pages {
	pid_t pid;
	int pagemap_fd; /* /proc/PID/pagemap */
	uint64_t page_size;
	uint64_t deadline_ns; /* -ETIMEDOUT from then on */
	bool scans;
	dev_t kernel_dev;    /* 0: not known */
	uint64_t zero_frame; /* 0: not known; needed where the kernel does not scan */
	memory_visit_fn *visit;
	void *arg;
};

/* Whether the kernel scans. */
bool written_pages_scans(int pagemap_fd);

/*
 * The frame that the kernel maps wherever a page was read and nobody has written to it. 0: not
 * known, as without root.
 */
uint64_t written_pages_zero_frame(void);

/*
 * The device that mappings show where the kernel itself keeps shared memory (memfd, anonymous,
 * System V). Other files are not opened: whoever serves them could have us wait. 0: not known.
 */
dev_t written_pages_kernel_dev(void);

/*
 * In ascending order, pages of a private mapping that are not just its file's, or untouched. 0,
 * what visit returns, or a negative errno.
 */
int written_pages_of_memory(const struct written_pages *pages, uint64_t start, uint64_t end);

/* The same of a shared mapping: what its file in memory holds, or what the process has touched. */
int written_pages_of_file(const struct written_pages *pages, const struct mapping *mapping,
			  uint64_t start, uint64_t end);

#endif
