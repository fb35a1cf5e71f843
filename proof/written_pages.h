/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the pages to which a live process may have written. Reads the page tables of the process
 * or, for shared memory, searches the in-memory file that is mapped. With PAGEMAP_SCAN (since Linux
 * 6.7), untouched ranges take almost no time; otherwise, 8 bytes are read for each page.
 */
#ifndef PROOF_WRITTEN_PAGES_H
#define PROOF_WRITTEN_PAGES_H

#include <stdbool.h>

#include "proof/memory.h"

struct written_pages {
	pid_t pid;
	int pagemap_fd; /* descriptor of /proc/PID/pagemap */
	/* true if the process never runs, so it cannot keep its memory map locked */
	bool is_copy;
	uint64_t page_size;
	uint64_t deadline_ns; /* time after which visits return -ETIMEDOUT */
	bool scans;
	dev_t kernel_dev; /* see written_pages_kernel_dev() */
	/*
	 * Frame number of the zero page, 0 if unknown. Needed if the kernel does not support
	 * PAGEMAP_SCAN.
	 */
	uint64_t zero_frame;
	memory_visit_fn *visit;
	void *arg;
};

/* True if the kernel supports PAGEMAP_SCAN. */
bool written_pages_scans(int pagemap_fd);

/*
 * Returns the frame number of the shared zero page, which the kernel maps where a process has read
 * memory that was never written; 0 if unknown, e.g. without root rights.
 */
uint64_t written_pages_zero_frame(void);

/*
 * Returns the device number of the kernel's internal shared memory files (memfd, anonymous, System
 * V), 0 if unknown. Files on other devices must not be opened: their file systems could block.
 */
dev_t written_pages_kernel_dev(void);

/* Opens the file of a mapping. Returns a descriptor or a negative errno (regular_file.h). */
int written_pages_open_file(pid_t pid, const struct mapping *mapping);

/*
 * Visits the pages of a private mapping to which the process may have written, in ascending order.
 * Skips untouched pages and unmodified pages of a file. Returns 0, the first result of `visit` that
 * is not 0, or a negative errno.
 */
int written_pages_of_memory(const struct written_pages *pages, uint64_t start, uint64_t end);

/*
 * Visits the pages of a shared mapping that exist in the mapped file, if it is on the device of
 * written_pages_kernel_dev() and can be opened. Otherwise, visits the pages that the process has
 * touched, or none if the mapping is read-only. Order and return values are those of
 * written_pages_of_memory().
 */
int written_pages_of_file(const struct written_pages *pages, const struct mapping *mapping,
			  uint64_t start, uint64_t end);

#endif
