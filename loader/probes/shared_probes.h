/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes shared by all processes. Each file with allocator functions is searched and probed
 * once. Probes keep the file and its file system in use, so they are removed if no process has
 * mapped the file for some time. They are removed sooner if no process maps any file of the file
 * system.
 */
#ifndef LOADER_PROBES_SHARED_PROBES_H
#define LOADER_PROBES_SHARED_PROBES_H

#include "loader/probes/probe_set.h"

struct probed_file {
	struct file_id id;
	struct timespec changed; /* change time; needed since inode numbers are reused */
	bool has_heap;           /* true if heap functions of the file are probed */
	bool throws;             /* true if probed functions of the file may throw exceptions */
	bool raises_known;       /* true if functions that raise exceptions were searched for */
	bool layered;        /* true if on an overlay; `id` then identifies the file in its layer */
	unsigned int unused; /* number of sweep rounds since a process last mapped the file */
	uint64_t system_ns;  /* time when a file of this file system was last in use */
	uint64_t since_ns;   /* time when the file was added, CLOCK_MONOTONIC */
};

struct shared_probes {
	struct probe_set probes;
	struct probed_file *files; /* all files that were searched */
	size_t cnt;
	size_t cap;
};

/* Returns the file's entry and marks it as used; NULL if the file was not searched yet. */
struct probed_file *shared_probes_find(struct shared_probes *shared, int fd);
/* Adds a file. Returns 0 or a negative errno. */
int shared_probes_add(struct shared_probes *shared, int fd, bool has_heap);
/* Returns the number of files with a probed heap function. */
size_t shared_probes_heaps(const struct shared_probes *shared);
/*
 * shared_probes_begin_round() begins a new sweep round. shared_probes_use_all() marks all files as
 * used.
 */
void shared_probes_begin_round(struct shared_probes *shared);
void shared_probes_use_all(struct shared_probes *shared);
/*
 * Sets system_ns to now_ns for files whose file system is in use, as reported by is_in_use(). For a
 * file on an overlay, the file system always counts as in use, since it is unknown through which
 * mount the file was probed.
 */
void shared_probes_note_systems(struct shared_probes *shared, uint64_t now_ns,
				bool (*is_in_use)(void *arg, dev_t dev), void *arg);
/*
 * Drops files that no process has mapped in the last `rounds` sweep rounds, and files whose file
 * system has not been in use since since_ns. Removing probes is slow, so the function stops after
 * the first file with probes and returns true.
 */
bool shared_probes_drop_unused(struct shared_probes *shared, unsigned int rounds,
			       uint64_t since_ns);
void shared_probes_deinit(struct shared_probes *shared);

#endif
