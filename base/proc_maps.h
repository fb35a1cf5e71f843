/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses /proc/PID/maps into plain data. Opens only the maps file, none of the mapped files. */
#ifndef BASE_PROC_MAPS_H
#define BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct mapping {
	uint64_t start;
	uint64_t end;        /* end address, exclusive */
	uint64_t offset;     /* file offset of start, in bytes; 0 for anonymous memory */
	struct file_id file; /* numbers as in maps: see struct file_id */
	bool readable;
	bool writable;
	bool executable;
	bool shared;
	/*
	 * The kernel appended " (deleted)", which is removed from path. Also set for a file whose
	 * name really ends so: the text is ambiguous.
	 */
	bool deleted;
	/* Unescaped path as the process sees it; "[heap]", "[anon:x]" ...; "" if there is none. */
	const char *path;
	/* time of the mmap() by CLOCK_REALTIME; 0 if unknown, as when read from /proc */
	int64_t since_ns;
	/*
	 * Executable anonymous memory may replace a part of a file, as in programs that move their
	 * code to huge pages. Then file, offset and path are those of the replaced part, and this
	 * is the range of a neighbouring mapping of the file. Otherwise 0, 0.
	 */
	uint64_t beside_start;
	uint64_t beside_end;
};

/* True if a mapping is anonymous memory that replaces a part of its file. */
static inline bool mapping_is_moved(const struct mapping *mapping)
{
	return mapping->beside_end;
}

struct proc_maps {
	struct mapping *mappings; /* sorted by address, not overlapping */
	size_t cnt;
	char *path_store; /* memory that the paths point into; mappings may share a path */
	size_t text_bytes;
	/* No line is missing: none was skipped, and the image still existed after the last read. */
	bool whole;
	bool cut; /* the limits PROC_MAPS_LINES_MAX or PROC_MAPS_BYTES_MAX were exceeded */
};

/*
 * Limits on reading a process's mappings, since the kernel takes a second for 100 MB of text. Paths
 * beyond PROC_MAPS_PATH_BYTES_MAX bytes of distinct paths are replaced by "".
 */
#define PROC_MAPS_LINES_MAX (1 << 18)
#define PROC_MAPS_BYTES_MAX (16 << 20)
#define PROC_MAPS_PATH_BYTES_MAX (8 << 20)

#define for_each_mapping(m, maps)                                                                  \
	for (const struct mapping *m = (maps)->mappings; m < (maps)->mappings + (maps)->cnt; m++)

/*
 * Parses text, which needs no final NUL. Skips lines that are invalid or out of order. Fails only
 * with -ENOMEM. The caller frees ret with proc_maps_deinit().
 */
int proc_maps_parse(const char *text, size_t len, struct proc_maps *ret);

/*
 * Reads a process's mappings. Ended processes, zombies and kernel threads have none, which is not
 * an error. Fails with -ENOMEM or an error of open() or read() (-ENOENT, -ESRCH, -EACCES ...).
 */
int proc_maps_read(pid_t pid, struct proc_maps *ret);

/*
 * Reads an open maps file from its beginning. The file belongs to the image it was opened for: it
 * is empty after an exec or the process's end.
 */
int proc_maps_read_fd(int fd, struct proc_maps *ret);

/*
 * Minimum interval, in nanoseconds, before these maps should be read again, to limit the processor
 * time: one to two seconds for 60,000 mappings, 0 for usual processes.
 */
uint64_t proc_maps_rest_ns(const struct proc_maps *maps);

/* Returns the mapping that contains addr; NULL if there is none. */
const struct mapping *proc_maps_find(const struct proc_maps *maps, uint64_t addr);

void proc_maps_deinit(struct proc_maps *maps);

#endif
