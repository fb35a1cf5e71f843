// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/limited_call.h"
#include "base/number.h"
#include "base/proc.h"
#include "base/proc_maps.h"

/*
 * Size of the read buffer, in bytes. Every line fits into it: a path has at most 4 KB, and each
 * byte of the path may be escaped as four bytes.
 */
#define PIECE_BYTES (64 << 10)

/*
 * Values for proc_maps_interval_ns(): the interval is about 16 times the time that it takes to read
 * and process the mappings.
 */
#define FEW_LINES 1024
#define INTERVAL_NS_PER_LINE 16000
#define INTERVAL_NS_PER_BYTE 150

/* The part of a line that is still to be parsed. */
struct line {
	const char *at;
	const char *end;
};

/* Parses a number and the character `then`, which is optional at the end of the line. */
static bool take_number(struct line *line, unsigned int base, char then, uint64_t *ret)
{
	uint64_t value;

	if (number_take(&line->at, line->end, base, &value))
		return false;
	if (line->at < line->end && *line->at++ != then)
		return false;
	*ret = value;
	return true;
}

static bool take_permissions(struct line *line, struct mapping *m)
{
	const char *p = line->at;

	if (line->end - p < 5 || p[4] != ' ')
		return false;
	m->readable = p[0] == 'r';
	m->writable = p[1] == 'w';
	m->executable = p[2] == 'x';
	m->shared = p[3] == 's' || p[3] == 'S';
	line->at += 5;
	return true;
}

/*
 * Copies a path and replaces \012 by a newline. The kernel escapes newlines only, not backslashes,
 * so the copy is wrong if a file's name really contains the text \012.
 */
static size_t copy_path(char *to, const char *from, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		if (len - i >= 4 && !memcmp(from + i, "\\012", 4)) {
			to[used++] = '\n';
			i += 3;
		} else {
			to[used++] = from[i];
		}
	}
	to[used] = '\0';
	return used;
}

static void parse_path(const struct line *line, char *store, struct mapping *m)
{
	static const char mark[] = " (deleted)";
	const size_t mark_len = sizeof(mark) - 1;
	const char *from = line->at;
	size_t len;

	/*
	 * Skip the kernel's padding. A path does not begin with a blank, since paths of files begin
	 * with '/'.
	 */
	while (from < line->end && *from == ' ')
		from++;
	len = copy_path(store, from, line->end - from);
	m->deleted =
		len > mark_len && m->file.ino && !memcmp(store + len - mark_len, mark, mark_len);
	if (m->deleted)
		store[len - mark_len] = '\0';
	m->path = store;
}

/* Parses a line such as 55d0c0a3e000-55d0c0a60000 r-xp 00002000 fe:01 1835044 /usr/bin/cat */
static bool parse_line(struct line line, char *store, struct mapping *ret)
{
	struct mapping m = {0};
	uint64_t dev_major, dev_minor;

	if (!take_number(&line, 16, '-', &m.start) || !take_number(&line, 16, ' ', &m.end) ||
	    !take_permissions(&line, &m) || !take_number(&line, 16, ' ', &m.offset) ||
	    !take_number(&line, 16, ':', &dev_major) || !take_number(&line, 16, ' ', &dev_minor) ||
	    !take_number(&line, 10, ' ', &m.file.ino))
		return false;
	if (m.end <= m.start || dev_major > UINT32_MAX || dev_minor > UINT32_MAX)
		return false;
	m.file.dev = makedev((unsigned int)dev_major, (unsigned int)dev_minor);
	parse_path(&line, store, &m);
	*ret = m;
	return true;
}

/*
 * Number of entries of the cache of recent paths. The cache lets mappings of one file that are
 * close to each other share one copy of the path.
 */
#define RECENT_PATHS 256
#define HASHED_BYTES 64

/* Marks an unused entry in the cache of recent paths. */
#define NO_PATH SIZE_MAX

/*
 * Mappings while they are being read. Paths are stored as offsets, since path_store may move when
 * it grows.
 */
struct reading {
	struct proc_maps maps;
	size_t cap;
	size_t *paths; /* offset of each mapping's path in maps.path_store */
	size_t paths_cap;
	size_t store_len;
	size_t store_cap;
	/* cache of recent paths: indexed by hash_path(); values are offsets in maps.path_store */
	size_t recent[RECENT_PATHS];
	uint64_t last_end;
	off_t at;   /* offset of the next read in the maps file */
	char *path; /* buffer for the current line's path */
	size_t path_cap;
};

static int begin_reading(struct reading *reading)
{
	*reading = (struct reading){.maps.whole = true};
	for (size_t i = 0; i < RECENT_PATHS; i++)
		reading->recent[i] = NO_PATH;
	/* Store "" at offset 0: it replaces the paths that do not fit into the store. */
	if (array_reserve(&reading->maps.path_store, &reading->store_cap, 1))
		return -ENOMEM;
	reading->maps.path_store[reading->store_len++] = '\0';
	return 0;
}

/* Hashes the last bytes of a path: paths differ in these more often than in their first bytes. */
static size_t hash_path(const char *path, size_t len)
{
	uint64_t hash = len;

	for (size_t i = len > HASHED_BYTES ? len - HASHED_BYTES : 0; i < len; i++)
		hash = (hash ^ (unsigned char)path[i]) * 0x9e3779b97f4a7c15ULL;
	return (hash >> 32) % RECENT_PATHS;
}

/*
 * Stores a path and sets *ret to its offset. If the store is full, sets *ret to 0, the offset of
 * "".
 */
static int store_path(struct reading *reading, const char *path, size_t *ret)
{
	size_t len = strlen(path) + 1, *recent = &reading->recent[hash_path(path, len)];

	if (*recent != NO_PATH && !strcmp(reading->maps.path_store + *recent, path)) {
		*ret = *recent;
		return 0;
	}
	*ret = 0;
	if (reading->store_len + len > PROC_MAPS_PATH_BYTES_MAX)
		return 0;
	if (array_reserve(&reading->maps.path_store, &reading->store_cap, reading->store_len + len))
		return -ENOMEM;
	memcpy(reading->maps.path_store + reading->store_len, path, len);
	*ret = *recent = reading->store_len;
	reading->store_len += len;
	return 0;
}

static int read_line(struct reading *reading, const char *at, const char *end)
{
	struct proc_maps *maps = &reading->maps;
	struct mapping mapping;

	maps->text_bytes += (size_t)(end - at) + 1;
	if (array_reserve(&reading->path, &reading->path_cap, (size_t)(end - at) + 1) ||
	    array_reserve(&reading->paths, &reading->paths_cap, maps->cnt + 1) ||
	    array_reserve(&maps->mappings, &reading->cap, maps->cnt + 1))
		return -ENOMEM;
	if (!parse_line((struct line){at, end}, reading->path, &mapping) ||
	    mapping.start < reading->last_end) {
		maps->whole = false;
		return 0;
	}
	if (store_path(reading, mapping.path, &reading->paths[maps->cnt]))
		return -ENOMEM;
	reading->last_end = mapping.end;
	maps->mappings[maps->cnt++] = mapping;
	return 0;
}

/*
 * True for anonymous memory, including huge pages of hugetlbfs, which the maps file shows as a
 * deleted file.
 */
static bool is_anonymous(const struct mapping *m)
{
	if (m->file.ino)
		return m->deleted && !strcmp(m->path, "/anon_hugepage");
	return !*m->path || !strncmp(m->path, "[anon:", 6);
}

/*
 * Returns the end (exclusive) of the run of adjacent anonymous mappings that begins at index `at`.
 */
static size_t anonymous_end(const struct proc_maps *maps, size_t at)
{
	size_t end = at;

	while (end < maps->cnt && is_anonymous(&maps->mappings[end]) &&
	       (end == at || maps->mappings[end].start == maps->mappings[end - 1].end))
		end++;
	return end;
}

/*
 * True if both mappings map the same file, and the part of the file between them, which neither
 * maps, has exactly `bytes` bytes.
 */
static bool misses(const struct mapping *before, const struct mapping *behind, uint64_t bytes)
{
	uint64_t end = before->offset + (before->end - before->start);

	return before->file.ino && file_id_equal(&before->file, &behind->file) &&
	       behind->offset > end && behind->offset - end == bytes;
}

/*
 * The anonymous mappings from index `at` to `end` (exclusive) lie between two mappings of one file.
 * Marks those that are executable as the missing part of this file.
 */
static void note_moved(struct proc_maps *maps, size_t at, size_t end)
{
	const struct mapping *before = &maps->mappings[at - 1];
	uint64_t distance =
		before->offset + (before->end - before->start) - maps->mappings[at].start;

	for (size_t i = at; i < end; i++) {
		struct mapping *m = &maps->mappings[i];

		if (!m->executable)
			continue;
		m->file = before->file;
		m->path = before->path;
		m->deleted = before->deleted;
		m->offset = m->start + distance;
		m->beside_start = before->start;
		m->beside_end = before->end;
	}
}

static void find_moved(struct proc_maps *maps)
{
	size_t at = 1, end;

	while (at < maps->cnt) {
		end = anonymous_end(maps, at);
		if (end > at && end < maps->cnt &&
		    misses(&maps->mappings[at - 1], &maps->mappings[end],
			   maps->mappings[end - 1].end - maps->mappings[at].start))
			note_moved(maps, at, end);
		at = end > at ? end : at + 1;
	}
}

static int end_reading(struct reading *reading, int err, struct proc_maps *ret)
{
	struct proc_maps *maps = &reading->maps;

	free(reading->path);
	for (size_t i = 0; i < maps->cnt; i++)
		maps->mappings[i].path = maps->path_store + reading->paths[i];
	free(reading->paths);
	find_moved(maps);
	/* Allocate the array `mappings` even if the process has no mappings. */
	if (!err && array_reserve(&maps->mappings, &reading->cap, maps->cnt + 1))
		err = -ENOMEM;
	if (err) {
		proc_maps_deinit(maps);
		return err;
	}
	*ret = *maps;
	return 0;
}

/* Parses the complete lines in text. *ret: number of bytes parsed. */
static int read_lines(struct reading *reading, const char *text, size_t len, size_t *ret)
{
	const char *at = text, *newline;
	int err = 0;

	while (!err && (size_t)(at - text) < len &&
	       (newline = memchr(at, '\n', len - (size_t)(at - text)))) {
		err = read_line(reading, at, newline);
		at = newline + 1;
	}
	*ret = (size_t)(at - text);
	return err;
}

int proc_maps_parse(const char *text, size_t len, struct proc_maps *ret)
{
	struct reading reading;
	size_t done = 0;
	int err = begin_reading(&reading);

	if (!err)
		err = read_lines(&reading, text, len, &done);
	if (!err && done < len)
		err = read_line(&reading, text + done, text + len);
	return end_reading(&reading, err, ret);
}

static bool is_too_much(const struct proc_maps *maps)
{
	return maps->cnt >= PROC_MAPS_LINES_MAX || maps->text_bytes >= PROC_MAPS_BYTES_MAX;
}

/* Reads the file piece by piece. Moves an incomplete last line to the front of the buffer. */
static int read_pieces(int fd, struct reading *reading, char *piece, size_t size)
{
	size_t len = 0, done;
	ssize_t got;
	int err = 0;

	do {
		got = pread(fd, piece + len, size - len, reading->at);
		/* ESRCH: the process exited or called exec meanwhile. Keep what was read before. */
		if (got < 0 && errno != EINTR && errno != ESRCH)
			return -errno;
		if (got > 0) {
			reading->at += got;
			len += (size_t)got;
			err = read_lines(reading, piece, len, &done);
			memmove(piece, piece + done, len - done);
			len -= done;
		}
		/* A whole buffer without a newline cannot be a valid line. */
		reading->maps.cut = len == size || is_too_much(&reading->maps);
		if (reading->maps.cut) {
			reading->maps.whole = false;
			return err;
		}
	} while (!err && (got > 0 || (got < 0 && errno == EINTR)));
	return err || !len ? err : read_line(reading, piece, piece + len);
}

static int read_all(int fd, struct proc_maps *ret)
{
	cleanup_free char *piece = malloc(PIECE_BYTES);
	struct reading reading;
	char again;
	int err = piece ? begin_reading(&reading) : -ENOMEM;

	if (!piece)
		return err;
	if (!err)
		err = read_pieces(fd, &reading, piece, PIECE_BYTES);
	err = end_reading(&reading, err, ret);
	if (!err && pread(fd, &again, 1, 0) != 1)
		ret->whole = false;
	return err;
}

static int run_read(int fd, void *data)
{
	return read_all(fd, data);
}

static void drop_read(int result, void *data)
{
	if (!result)
		proc_maps_deinit(data);
}

int proc_maps_read_fd(pid_t pid, int fd, struct proc_maps *ret)
{
	static const struct limited_function function = {run_read, drop_read, sizeof(*ret)};
	struct proc_maps maps = {0};
	int err = limited_call(pid, fd, &function, &maps);

	if (!err)
		*ret = maps;
	return err;
}

uint64_t proc_maps_interval_ns(const struct proc_maps *maps)
{
	if (maps->cnt < FEW_LINES)
		return 0;
	return maps->cnt * INTERVAL_NS_PER_LINE + maps->text_bytes * INTERVAL_NS_PER_BYTE;
}

int proc_maps_read(pid_t pid, struct proc_maps *ret)
{
	cleanup_close int fd = proc_open(pid, "maps", O_RDONLY);

	return fd < 0 ? fd : proc_maps_read_fd(pid, fd, ret);
}

const struct mapping *proc_maps_find(const struct proc_maps *maps, uint64_t addr)
{
	size_t at = bisect_upto(maps->mappings, maps->cnt, end, addr);

	return at < maps->cnt && maps->mappings[at].start <= addr ? &maps->mappings[at] : NULL;
}

void proc_maps_deinit(struct proc_maps *maps)
{
	if (!maps)
		return;
	free(maps->mappings);
	free(maps->path_store);
	*maps = (struct proc_maps){0};
}

/*
 * Reads all mappings: recent kernels lock each mapping on its own, so that reads of the first
 * mappings do not block.
 */
static int run_find_locked(int fd, void *data)
{
	const pid_t *pid = data;
	cleanup_close int maps_fd = -1;
	struct proc_maps maps = {0};
	char path[32];
	int err;

	(void)fd;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)*pid);
	maps_fd = open(path, O_RDONLY | O_CLOEXEC);
	err = maps_fd < 0 ? -errno : read_all(maps_fd, &maps);
	if (!err)
		proc_maps_deinit(&maps);
	return err;
}

void proc_maps_find_locked(const pid_t *pids, size_t cnt)
{
	static const struct limited_function function = {.run = run_find_locked,
							 .size = sizeof(*pids)};

	limited_calls_share_waits(pids, cnt, &function);
}
