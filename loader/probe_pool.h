/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes that all processes share: each file that has allocator functions is probed once, in
 * whichever process it is mapped, and looked into once.
 */
#ifndef PROBE_POOL_H
#define PROBE_POOL_H

#include <sys/stat.h>

#include "loader/probes.h"

struct pool_file {
	dev_t dev;
	ino_t ino;
	struct timespec changed; /* numbers of files are given again */
	bool has_heap;           /* functions of it that hand out memory are probed */
	uint64_t since_ns;       /* CLOCK_MONOTONIC */
};

struct probe_pool {
	struct probe_set probes;
	struct pool_file *files; /* that have been looked into */
	size_t cnt;
};

/* NULL: it has not been looked into. */
const struct pool_file *probe_pool_find(const struct probe_pool *pool, int fd);
/* Returns 0 or a negative errno. */
int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap);
/* How many files have a probed heap function. */
size_t probe_pool_heaps(const struct probe_pool *pool);
void probe_pool_deinit(struct probe_pool *pool);

#endif
