// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses /tmp/perf-PID.map and finds symbols in it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/regular_file.h"
#include "symbolizer/perf_map.h"

#define FILE_MAX_BYTES (64 * 1024 * 1024)
#define LINES_MAX (2 * 1024 * 1024)
/*
 * Maximum number of lines that are compared if several lines contain the same address. Real JIT
 * compilers reuse an address fewer times.
 */
#define OVERLAPS_MAX 4096

/* Parses a hex number, with or without 0x, and at least one space after it. */
static bool take_hex(const char **at, const char *end, uint64_t *ret)
{
	const char *p = *at, *digits;
	uint64_t value;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	digits = p;
	if (number_take(&p, end, 16, &value) || p - digits > 16 || p >= end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	*at = p;
	*ret = value;
	return true;
}

static int parse_line(struct perf_map *map, const char *at, const char *end)
{
	uint64_t start, size;

	if (!take_hex(&at, end, &start) || !take_hex(&at, end, &size) || at >= end ||
	    size > UINT64_MAX - start)
		return 0;
	return range_table_add(&map->code, start, start + size, at - map->text);
}

int perf_map_parse(struct perf_map *map, const char *text, size_t len)
{
	size_t lines = 0;
	const char *end;
	int err = 0;

	perf_map_deinit(map);
	map->text = malloc(len + 1);
	if (!map->text)
		return -ENOMEM;
	memcpy(map->text, text, len);
	/*
	 * Add a newline as a sentinel, so that memchr() always finds one. The loop skips the line
	 * that ends at the sentinel: the JIT compiler may still be writing it.
	 */
	map->text[len] = '\n';
	end = map->text + len;
	for (const char *at = map->text; !err && at < end && lines < LINES_MAX; lines++) {
		const char *newline = memchr(at, '\n', end + 1 - at);

		if (newline < end)
			err = parse_line(map, at, newline);
		at = newline + 1;
	}
	return err ? err : range_table_finish(&map->code);
}

static int read_all(int fd, size_t size, char **ret, size_t *ret_len)
{
	char *text = malloc(size + 1);
	size_t len = 0;
	ssize_t got;

	if (!text)
		return -ENOMEM;
	while (len < size && (got = pread(fd, text + len, size - len, len)) > 0)
		len += got;
	*ret = text;
	*ret_len = len;
	return 0;
}

int perf_map_read(struct perf_map *map, int root_fd, const char *path, uid_t uid, bool *changed)
{
	struct file_version file;
	struct stat st;
	char *text = NULL;
	size_t len = 0;
	int fd, err = 0;

	fd = regular_file_open_known(root_fd, path, LINKS_BEFORE, &st);
	if (fd < 0)
		return fd;
	file = file_version_of(&st);
	if ((st.st_uid && st.st_uid != uid) || st.st_size > FILE_MAX_BYTES)
		err = -EACCES;
	*changed = !err && !(map->text && file_version_equal(&map->file, &file));
	if (*changed)
		err = read_all(fd, st.st_size, &text, &len);
	close(fd);
	if (*changed && !err)
		err = perf_map_parse(map, text, len);
	free(text);
	if (err)
		*changed = false;
	else
		map->file = file;
	return err;
}

int perf_map_find(const struct perf_map *map, uint64_t addr, struct perf_symbol *ret)
{
	const struct range *found = NULL, *range = NULL;

	if (!map->code.max_end)
		return -ENOENT;
	for (unsigned int i = 0; i < OVERLAPS_MAX; i++) {
		range = range_table_next(&map->code, addr, range);
		if (!range)
			break;
		if (!found || range->value > found->value)
			found = range;
	}
	if (!found)
		return -ENOENT;
	ret->start = found->start;
	ret->name = map->text + found->value;
	ret->name_len = strcspn(ret->name, "\n");
	return 0;
}

void perf_map_deinit(struct perf_map *map)
{
	free(map->text);
	range_table_deinit(&map->code);
	*map = (struct perf_map){0};
}
