/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes shared by all processes. Each file with allocator functions is searched and probed
 * once, for all processes. Probes of a file that has not been mapped for some time are removed,
 * since they keep the file and its file system in use. That time is short if no process maps any
 * file of the file system.
 */
#ifndef LOADER_PROBES_PROBE_POOL_H
#define LOADER_PROBES_PROBE_POOL_H

#include "loader/probes/probe_set.h"

struct pool_file {
	struct file_id id;
	struct timespec changed; /* change time, since inode numbers are reused */
	bool has_heap;           /* has probed functions that hand out memory */
	bool throws;             /* has probed functions that may be left by exceptions */
	bool raises_known;       /* also searched for functions that raise exceptions */
	bool layered;            /* id is the file behind an overlay */
	unsigned int unused;     /* sweep rounds since a process last mapped it */
	uint64_t system_ns;      /* last time a file of its file system was mapped */
	uint64_t since_ns;       /* when it was added, CLOCK_MONOTONIC */
};

struct probe_pool {
	struct probe_set probes;
	struct pool_file *files; /* files that were searched */
	size_t cnt;
	size_t cap;
};

/* Returns the file and marks it as used; NULL if it was not searched yet. */
struct pool_file *probe_pool_find(struct probe_pool *pool, int fd);
/* Adds a file. Returns 0 or a negative errno. */
int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap);
/* Returns the number of files with a probed heap function. */
size_t probe_pool_heaps(const struct probe_pool *pool);
/* Begin a new sweep round; mark all files as used. */
void probe_pool_age(struct probe_pool *pool);
void probe_pool_use_all(struct probe_pool *pool);
/*
 * Updates system_ns of files whose file system is_in_use(). Files behind an overlay count as in
 * use: the mount through which they were probed is unknown.
 */
void probe_pool_note_systems(struct probe_pool *pool, uint64_t now_ns,
			     bool (*is_in_use)(void *arg, dev_t dev), void *arg);
/*
 * Drops files that no process has mapped for rounds rounds, or whose file system was not in use
 * since since_ns. Stops after the first file with probes and returns true, since removing probes is
 * slow.
 */
bool probe_pool_drop_unused(struct probe_pool *pool, unsigned int rounds, uint64_t since_ns);
void probe_pool_deinit(struct probe_pool *pool);

#endif
