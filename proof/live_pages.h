/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads pages of a live process. A server of files that does not answer, or a handler of
 * userfaultfd(2), cannot block the caller for ever; nor can a running process that keeps its memory
 * map locked.
 */
#ifndef PROOF_LIVE_PAGES_H
#define PROOF_LIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"

struct live_pages {
	pid_t pid;
	int mem_fd;     /* descriptor of /proc/PID/mem */
	int pagemap_fd; /* descriptor of /proc/PID/pagemap */
	uint64_t page_size;
	/*
	 * true if anonymous memory may be read even if it was never used: the process is a copy,
	 * and the kernel maps its zero page there
	 */
	bool reads_unused;
	bool may_run; /* true if the process may run, and may lock its memory map, meanwhile */
};

/*
 * Reads up to len bytes at addr, all within `mapping`. Pages of anonymous memory that were never
 * used are read as zeros. Does not read unmodified pages of a file if mapping->is_served is set, or
 * if the kernel cannot load them in time: they contain no pointers to blocks. Returns the number of
 * bytes, -ESRCH if the process has ended, or another negative errno, such as -EAGAIN if may_run is
 * set and the memory map stays locked.
 */
ssize_t live_pages_read(const struct live_pages *pages, const struct mapping *mapping,
			uint64_t addr, void *buf, size_t len);

#endif
