// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses and reads /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/proc.h"
#include "base/proc_maps.h"

/* What of a line is still to be read. */
struct line {
	const char *at;
	const char *end;
};

/* A number and the one character that must follow it; at the line's end none needs to. */
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
	m->deleted =
		len > mark_len && m->file.ino && !memcmp(store + len - mark_len, mark, mark_len);
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
	    !take_number(&line, 10, ' ', &m.file.ino))
		return false;
	if (m.end <= m.start || dev_major > UINT32_MAX || dev_minor > UINT32_MAX)
		return false;
	m.file.dev = makedev((unsigned int)dev_major, (unsigned int)dev_minor);
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
	struct proc_maps maps = {.whole = true};
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
		    maps.mappings[maps.cnt].start < last_end) {
			maps.whole = false;
			continue;
		}
		last_end = maps.mappings[maps.cnt].end;
		store += strlen(store) + 1;
		maps.cnt++;
	}
	*ret = maps;
	return 0;
}

int proc_maps_read_fd(int fd, struct proc_maps *ret)
{
	cleanup_free char *text = NULL;
	char again;
	size_t len;
	/* The image may end while it is read: what was read before is as good as it gets. */
	int err = proc_read_fd(fd, &text, &len);

	if (!err)
		err = proc_maps_parse(text, len, ret);
	if (!err && pread(fd, &again, 1, 0) != 1)
		ret->whole = false;
	return err;
}

int proc_maps_read(pid_t pid, struct proc_maps *ret)
{
	cleanup_close int fd = proc_open(pid, "maps", O_RDONLY);

	return fd < 0 ? fd : proc_maps_read_fd(fd, ret);
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
