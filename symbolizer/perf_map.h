/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /tmp/perf-PID.map: where a just-in-time compiler says what its code is called, one line each:
 * start and size in hex, then the name. Anyone may have written the file.
 */
#ifndef SYMBOLIZER_PERF_MAP_H
#define SYMBOLIZER_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr_ranges.h"
#include "base/file_id.h"

struct perf_map {
	char *text;
	struct range_table code;  /* value: where in text the name begins */
	struct file_version file; /* that was read */
};

struct perf_symbol {
	uint64_t start;
	const char *name; /* ends with the line; valid until the map is read again */
	size_t name_len;
};

/*
 * Reads the file again when it is another than last time. uid: of the process, which, or root,
 * must own the file. 0: there is a map, *changed says whether it is new. A negative errno: none.
 */
int perf_map_read(struct perf_map *map, int root_fd, const char *path, uid_t uid, bool *changed);

/* Only the text is parsed. Bad lines are left out. Fails only with -ENOMEM. */
int perf_map_parse(struct perf_map *map, const char *text, size_t len);

/* 0, or -ENOENT. Of overlapping lines the last one counts. */
int perf_map_find(const struct perf_map *map, uint64_t addr, struct perf_symbol *ret);

void perf_map_deinit(struct perf_map *map);

#endif
