/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parsed perf record about mappings or processes, as plain data. The perf events must have
 * sample_id_all with TID and TIME. Knows nothing of ring buffers.
 */
#ifndef LOADER_TARGET_MAP_RECORD_H
#define LOADER_TARGET_MAP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"

#define MAP_RECORD_COMM_BYTES 16

enum map_record_kind {
	MAP_RECORD_OTHER,
	MAP_RECORD_MAPPING,
	MAP_RECORD_EXEC, /* exec: the process has no mappings yet */
	MAP_RECORD_NAME, /* a thread was renamed */
	MAP_RECORD_FORK, /* a process or thread was created */
	MAP_RECORD_EXIT, /* a thread has ended */
	MAP_RECORD_LOST,
};

struct map_record {
	enum map_record_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	pid_t pid;
	pid_t tid;
	pid_t parent; /* parent process, for MAP_RECORD_FORK */
	char comm[MAP_RECORD_COMM_BYTES];
	struct mapping mapping; /* new mapping; its path is not set, and its since_ns is 0 */
	const char *path;       /* path of the mapping, inside the record; does not end with NUL */
	size_t path_len;
};

/*
 * Parses a record. Returns false if the record is too short, or if its mapping is empty or too
 * long.
 */
bool map_record_parse(const void *bytes, size_t len, struct map_record *ret);

/* Returns the time of a record; 0 if the record is too short. */
uint64_t map_record_time(const void *bytes, size_t len);

#endif
