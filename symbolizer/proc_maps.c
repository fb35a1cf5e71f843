// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and reads /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/proc_maps.h"

#define READ_BYTES (64 * 1024)

/* What of a line is still to be read. */
struct line {
	const char *at;
	const char *end;
};

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

/* A number and the one character that must follow it; at the line's end none needs to. */
static bool take_number(struct line *line, unsigned int base, char then, uint64_t *ret)
{
	const char *start = line->at;
	uint64_t value = 0;

	while (line->at < line->end && digit_value(*line->at) < (int)base) {
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit_value(*line->at++), &value))
			return false;
	}
	if (line->at == start)
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
 * The kernel writes a newline in a path as \012 and leaves everything else alone, backslashes
 * too: a file that is really called "a\012b" comes out wrong, as nothing in the text tells it.
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

	/* The kernel pads to a column; a path of a file begins with '/', so no blank is lost. */
	while (from < line->end && *from == ' ')
		from++;
	len = copy_path(store, from, line->end - from);
	m->deleted = len > mark_len && m->inode && !memcmp(store + len - mark_len, mark, mark_len);
	if (m->deleted)
		store[len - mark_len] = '\0';
	m->path = store;
}

/* 55d0c0a3e000-55d0c0a60000 r-xp 00002000 fe:01 1835044                    /usr/bin/cat */
static bool parse_line(struct line line, char *store, struct mapping *ret)
{
	struct mapping m = {0};
	uint64_t dev_major, dev_minor;

	if (!take_number(&line, 16, '-', &m.start) || !take_number(&line, 16, ' ', &m.end) ||
	    !take_permissions(&line, &m) || !take_number(&line, 16, ' ', &m.offset) ||
	    !take_number(&line, 16, ':', &dev_major) || !take_number(&line, 16, ' ', &dev_minor) ||
	    !take_number(&line, 10, ' ', &m.inode))
		return false;
	if (m.end <= m.start || dev_major > UINT32_MAX || dev_minor > UINT32_MAX)
		return false;
	m.dev_major = dev_major;
	m.dev_minor = dev_minor;
	parse_path(&line, store, &m);
	*ret = m;
	return true;
}

static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', end - at);

	return newline ? newline : end;
}

int proc_maps_parse(const char *text, size_t len, struct proc_maps *ret)
{
	const char *end = text + len;
	struct proc_maps maps = {0};
	char *store;
	uint64_t last_end = 0;
	size_t lines = 0;

	for (const char *at = text; at < end; at = line_end(at, end) + 1)
		lines++;
	/* A path and its NUL are never longer than the line and its newline. */
	maps.path_store = store = malloc(len + 1);
	maps.mappings = calloc(lines + 1, sizeof(*maps.mappings));
	if (!store || !maps.mappings) {
		proc_maps_deinit(&maps);
		return -ENOMEM;
	}
	for (const char *at = text; at < end; at = line_end(at, end) + 1) {
		struct line line = {at, line_end(at, end)};

		if (!parse_line(line, store, &maps.mappings[maps.cnt]) ||
		    maps.mappings[maps.cnt].start < last_end)
			continue;
		last_end = maps.mappings[maps.cnt].end;
		store += strlen(store) + 1;
		maps.cnt++;
	}
	*ret = maps;
	return 0;
}

int proc_maps_read_fd(int fd, struct proc_maps *ret)
{
	size_t len = 0, cap = 0;
	char *text = NULL;
	ssize_t got;
	int err = 0;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	do {
		if (cap - len < READ_BYTES) {
			char *more = realloc(text, cap = cap * 2 + READ_BYTES);

			if (!more) {
				free(text);
				return -ENOMEM;
			}
			text = more;
		}
		got = read(fd, text + len, cap - len);
		if (got > 0)
			len += got;
		else if (got < 0 && errno != EINTR)
			err = -errno;
	} while (got > 0 || (got < 0 && !err));
	/* The image ended while it was read: what was read before is as good as it gets. */
	if (err == -ESRCH)
		err = 0;
	if (!err)
		err = proc_maps_parse(text, len, ret);
	free(text);
	return err;
}

int proc_maps_read(pid_t pid, struct proc_maps *ret)
{
	char *path;
	int fd, err;

	if (asprintf(&path, "/proc/%d/maps", (int)pid) < 0)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	free(path);
	if (err)
		return err;
	err = proc_maps_read_fd(fd, ret);
	close(fd);
	return err;
}

const struct mapping *proc_maps_find(const struct proc_maps *maps, uint64_t addr)
{
	size_t low = 0, high = maps->cnt;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (maps->mappings[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < maps->cnt && maps->mappings[low].start <= addr)
		return &maps->mappings[low];
	return NULL;
}

void proc_maps_deinit(struct proc_maps *maps)
{
	if (!maps)
		return;
	free(maps->mappings);
	free(maps->path_store);
	*maps = (struct proc_maps){0};
}
