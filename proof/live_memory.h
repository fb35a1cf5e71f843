/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a process that exists: one that does not change for the moment, or a copy of one.
 * It is read where it is. What devices have mapped is never touched.
 */
#ifndef PROOF_LIVE_MEMORY_H
#define PROOF_LIVE_MEMORY_H

#include <stdbool.h>

#include "proof/memory.h"

struct live_memory {
	struct memory memory; /* the first field */
	pid_t pid;
	int mem_fd;
	int pagemap_fd;
	struct live_memory *original; /* of a copy, what that was made of; NULL: of none */
	uint64_t deadline_ns; /* searches for pages that were written to end with -ETIMEDOUT then */
	bool scans;           /* the kernel finds such pages itself */
	uint64_t zero_frame;  /* written_pages.h */
	dev_t kernel_dev;     /* of files that the kernel keeps in memory: written_pages.h */
};

/* 0 or a negative errno: -ESRCH: it has no memory. */
int live_memory_init(pid_t pid, uint64_t deadline_ns, struct live_memory *ret);

/*
 * The same of a copy. What is not for children, and so is not in it, is read of the process that it
 * was made of, which may change it meanwhile; so is what that has mapped since.
 */
int live_memory_init_copy(pid_t copy, pid_t pid, uint64_t deadline_ns, struct live_memory *ret);
void live_memory_deinit(struct live_memory *live);

/* Whether a mapping may be read: that of a device's memory may do anything. */
bool live_memory_may_read(const struct mapping *mapping);

#endif
