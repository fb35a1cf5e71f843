/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One record of what the kernel tells of mappings and processes (perf_event_open), as plain data.
 * Its events have sample_id_all with TID and TIME. Knows nothing of rings.
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
	MAP_RECORD_EXEC, /* the process runs another program now, which has mapped nothing yet */
	MAP_RECORD_NAME, /* of a thread */
	MAP_RECORD_FORK, /* of a process or a thread */
	MAP_RECORD_EXIT, /* of a thread */
	MAP_RECORD_LOST,
};

struct map_record {
	enum map_record_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	pid_t pid;
	pid_t tid;
	pid_t parent;  /* that forked */
	uint64_t lost; /* records */
	char comm[MAP_RECORD_COMM_BYTES];
	struct mapping mapping; /* without its path, and since_ns is 0 */
	const char *path;       /* in the record's bytes, without a final NUL */
	size_t path_len;
};

/* False: too short for what it says to be. */
bool map_record_parse(const void *bytes, size_t len, struct map_record *ret);

/* When it was written; 0: too short. */
uint64_t map_record_time(const void *bytes, size_t len);

#endif
