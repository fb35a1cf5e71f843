/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes that all processes share: each file that has allocator functions is probed once, in
 * whichever process it is mapped, and looked into once. The probes of a file that nobody has
 * mapped for some time are removed: they keep the file, and the file system that it is on, in use.
 * That time is short if no process maps any file of the file system.
 */
#ifndef LOADER_PROBES_PROBE_POOL_H
#define LOADER_PROBES_PROBE_POOL_H

#include "loader/probes/probe_set.h"

struct pool_file {
	struct file_id id;
	struct timespec changed; /* numbers of files are given again */
	bool has_heap;           /* functions of it that hand out memory are probed */
	bool throws;             /* of those, some may be left by exceptions */
	bool raises_known;       /* what raises exceptions in it is probed, if there is any */
	bool layered;            /* its id is that of the file behind an overlay */
	unsigned int unused;     /* so many rounds ago it was found last */
	uint64_t system_ns;      /* when a file of its file system was last mapped */
	uint64_t since_ns;       /* CLOCK_MONOTONIC */
};

struct probe_pool {
	struct probe_set probes;
	struct pool_file *files; /* that have been looked into */
	size_t cnt;
	size_t cap;
};

/* NULL: it has not been looked into. What is found is in use. */
struct pool_file *probe_pool_find(struct probe_pool *pool, int fd);
/* Returns 0 or a negative errno. */
int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap);
/* How many files have a probed heap function. */
size_t probe_pool_heaps(const struct probe_pool *pool);
/* Another round; all: nothing is known to be unused. */
void probe_pool_age(struct probe_pool *pool);
void probe_pool_use_all(struct probe_pool *pool);
/*
 * Notes the moment for files whose file system is_in_use, and for all files behind an overlay, as
 * it is not known through which mount those were probed.
 */
void probe_pool_note_systems(struct probe_pool *pool, uint64_t now_ns,
			     bool (*is_in_use)(void *arg, dev_t dev), void *arg);
/*
 * Forgets files that no process was found to map for `rounds` rounds, or whose file system was not
 * in use since since_ns. Stops after the first file that had probes, as removing these is slow.
 * True if there was such a file.
 */
bool probe_pool_drop_unused(struct probe_pool *pool, unsigned int rounds, uint64_t since_ns);
void probe_pool_deinit(struct probe_pool *pool);

#endif
