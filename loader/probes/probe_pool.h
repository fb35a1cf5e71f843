/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes shared by all processes. Each file with allocator functions is searched and probed
 * once. Probes keep the file and its file system in use, so they are removed if no process has
 * mapped the file for some time. This time is short if no process maps any file of the file system.
 */
#ifndef LOADER_PROBES_PROBE_POOL_H
#define LOADER_PROBES_PROBE_POOL_H

#include "loader/probes/probe_set.h"

struct pool_file {
	struct file_id id;
	struct timespec changed; /* change time; needed since inode numbers are reused */
	bool has_heap;           /* has probed heap functions */
	bool throws;             /* has probed functions that may be left by exceptions */
	bool raises_known;       /* was also searched for functions that raise exceptions */
	bool layered;            /* the file is on an overlay; id is the file in its layer */
	unsigned int unused;     /* number of sweep rounds since a process last mapped it */
	uint64_t system_ns;      /* time when a file of its file system was last mapped */
	uint64_t since_ns;       /* time when it was added, CLOCK_MONOTONIC */
};

struct probe_pool {
	struct probe_set probes;
	struct pool_file *files; /* all files that were searched */
	size_t cnt;
	size_t cap;
};

/* Returns the file and marks it as used; NULL if it was not searched yet. */
struct pool_file *probe_pool_find(struct probe_pool *pool, int fd);
/* Adds a file. Returns 0 or a negative errno. */
int probe_pool_add(struct probe_pool *pool, int fd, bool has_heap);
/* Returns the number of files with a probed heap function. */
size_t probe_pool_heaps(const struct probe_pool *pool);
/* probe_pool_age() begins a new sweep round; probe_pool_use_all() marks all files as used. */
void probe_pool_age(struct probe_pool *pool);
void probe_pool_use_all(struct probe_pool *pool);
/*
 * Sets system_ns to now_ns for files whose file system is in use, as reported by is_in_use(). A
 * file on an overlay always counts as in use, since it is unknown through which mount it was
 * probed.
 */
void probe_pool_note_systems(struct probe_pool *pool, uint64_t now_ns,
			     bool (*is_in_use)(void *arg, dev_t dev), void *arg);
/*
 * Drops files that no process has mapped in the last sweep rounds (rounds is their number), or
 * whose file system was not in use since since_ns. Removing probes is slow: stops after the first
 * file with probes and returns true.
 */
bool probe_pool_drop_unused(struct probe_pool *pool, unsigned int rounds, uint64_t since_ns);
void probe_pool_deinit(struct probe_pool *pool);

#endif
