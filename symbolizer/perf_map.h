/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads /tmp/perf-PID.map, in which a JIT compiler lists its code, one function per line: start and
 * size in hex, then the name. The contents of the file are not trusted.
 */
#ifndef SYMBOLIZER_PERF_MAP_H
#define SYMBOLIZER_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/addr_ranges.h"
#include "base/file_id.h"

struct perf_map {
	char *text;
	/* address ranges of functions; value: offset of the function's name in `text` */
	struct range_table code;
	struct file_version file; /* version of the file when it was read */
};

struct perf_symbol {
	uint64_t start;
	const char *name; /* name, not NUL-terminated; valid until the map is read again */
	size_t name_len;
};

/*
 * Reads the file if it has changed since the last read. The file must be owned by root or by `uid`,
 * the process's user. Returns 0 if the map is valid; *changed is true if it was read now. Returns a
 * negative errno if there is no file or it cannot be used.
 */
int perf_map_read(struct perf_map *map, int root_fd, const char *path, uid_t uid, bool *changed);

/* Parses `len` bytes of `text`. Skips invalid lines. Fails only with -ENOMEM. */
int perf_map_parse(struct perf_map *map, const char *text, size_t len);

/*
 * Finds the symbol at addr. If several lines contain addr, the last one wins. Returns 0 or -ENOENT.
 */
int perf_map_find(const struct perf_map *map, uint64_t addr, struct perf_symbol *ret);

void perf_map_deinit(struct perf_map *map);

#endif
