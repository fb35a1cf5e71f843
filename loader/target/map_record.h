/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parsed perf record about mappings or processes, as plain data. The events must have
 * sample_id_all with TID and TIME. Knows nothing of rings.
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
	MAP_RECORD_EXEC, /* exec: the process runs another program, with no mappings yet */
	MAP_RECORD_NAME, /* rename of a thread */
	MAP_RECORD_FORK, /* fork of a process or a thread */
	MAP_RECORD_EXIT, /* exit of a thread */
	MAP_RECORD_LOST,
};

struct map_record {
	enum map_record_kind kind;
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	pid_t pid;
	pid_t tid;
	pid_t parent;  /* parent of a fork */
	uint64_t lost; /* number of lost records */
	char comm[MAP_RECORD_COMM_BYTES];
	struct mapping mapping; /* without its path; since_ns is 0 */
	const char *path;       /* within the record, without a final NUL */
	size_t path_len;
};

/* Parses a record. Returns false if it is too short. */
bool map_record_parse(const void *bytes, size_t len, struct map_record *ret);

/* Returns the time of a record; 0 if it is too short. */
uint64_t map_record_time(const void *bytes, size_t len);

#endif
