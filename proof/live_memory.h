/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the memory of a live process while this memory cannot change: the process is stopped or
 * asleep, or is a copy of another process. Reads memory on demand. Never reads mappings of devices.
 * Of files that regular_file.h refuses, reads only pages that the process has copied by writing.
 */
#ifndef PROOF_LIVE_MEMORY_H
#define PROOF_LIVE_MEMORY_H

#include <stdbool.h>

#include "proof/memory.h"

struct live_memory {
	struct memory memory; /* the interface to this memory; must be the first field */
	pid_t pid;
	int mem_fd;
	int pagemap_fd;
	/* if this is a copy: memory of the process that was copied; else NULL */
	struct live_memory *original;
	/* Deadline of searches for written pages. Searches after the deadline return -ETIMEDOUT. */
	uint64_t deadline_ns;
	bool scans;          /* true if the kernel supports PAGEMAP_SCAN */
	uint64_t zero_frame; /* frame number of the shared zero page: see written_pages.h */
	dev_t kernel_dev;    /* device of kernel-internal files: see written_pages.h */
};

/*
 * Opens the memory of a process. Returns 0 or a negative errno, -ESRCH if the process has no
 * memory.
 */
int live_memory_init(pid_t pid, uint64_t deadline_ns, struct live_memory *ret);

/*
 * Like live_memory_init(), for the copy of a process. Mappings that children do not inherit, and
 * mappings made after the copy, are read from the original process (pid), which may be changing
 * them.
 */
int live_memory_init_copy(pid_t copy, pid_t pid, uint64_t deadline_ns, struct live_memory *ret);
void live_memory_deinit(struct live_memory *live);

/* True if a mapping may be read. False for device memory: reading it may have side effects. */
bool live_memory_may_read(const struct mapping *mapping);

#endif
