/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps as plain data. Knows the format and nothing of what is mapped: no file is
 * opened here but the maps file itself.
 */
#ifndef BASE_PROC_MAPS_H
#define BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct mapping {
	uint64_t start;
	uint64_t end;        /* exclusive */
	uint64_t offset;     /* of start in the file, in bytes; 0 for anonymous memory */
	struct file_id file; /* as maps show it: see there */
	bool readable;
	bool writable;
	bool executable;
	bool shared;
	/*
	 * The kernel appended " (deleted)", which path does not have. A file may really be called
	 * that: the text cannot tell.
	 */
	bool deleted;
	/* Raw bytes as the process sees the path; "[heap]", "[anon:x]" ...; "" for none. */
	const char *path;
	int64_t since_ns; /* when it was mapped, by CLOCK_REALTIME; 0: not known, as from /proc */
	/*
	 * Executable anonymous memory that takes the place of a part of a file, as programs arrange
	 * for their text to have huge pages: file, offset and path are those of that part. 0, 0:
	 * the mapping is what it says. Otherwise the range of a mapping of the file itself.
	 */
	uint64_t beside_start;
	uint64_t beside_end;
};

/* True if a mapping is anonymous memory in the place of a part of its file. */
static inline bool mapping_is_moved(const struct mapping *mapping)
{
	return mapping->beside_end;
}

struct proc_maps {
	struct mapping *mappings; /* by address; no two overlap */
	size_t cnt;
	char *path_store; /* what the paths point into; equal ones may be one */
	size_t text_bytes;
	/*
	 * Nothing is missing: the image was still there after its last line had been read, and no
	 * line was left out.
	 */
	bool whole;
	bool cut; /* there were more lines than are read */
};

/*
 * More of a process's mappings is not read: the kernel takes a second for 100 MB of text. Beyond so
 * many bytes of different paths these are left out, and empty.
 */
#define PROC_MAPS_LINES_MAX (1 << 18)
#define PROC_MAPS_BYTES_MAX (16 << 20)
#define PROC_MAPS_PATH_BYTES_MAX (8 << 20)

#define for_each_mapping(m, maps)                                                                  \
	for (const struct mapping *m = (maps)->mappings; m < (maps)->mappings + (maps)->cnt; m++)

/*
 * Reads text, which needs no final NUL. A line that is none of the format, or not behind
 * the one before it, is left out. Fails only with -ENOMEM. ret is to be given to
 * proc_maps_deinit.
 */
int proc_maps_parse(const char *text, size_t len, struct proc_maps *ret);

/*
 * Reads a process's mappings. A process that has ended, a zombie and a kernel thread have none:
 * that is no error. Fails with what open and read say (-ENOENT, -ESRCH, -EACCES ...), -ENOMEM.
 */
int proc_maps_read(pid_t pid, struct proc_maps *ret);

/*
 * Reads an open maps file from its beginning, with the same result. The file stays with the image
 * it was opened for: after an exec, as after the end, it is empty.
 */
int proc_maps_read_fd(int fd, struct proc_maps *ret);

/*
 * So long after it was read it should not be read again, or it would take a good part of a core:
 * one to two seconds for 60,000 mappings, nothing for usual ones.
 */
uint64_t proc_maps_rest_ns(const struct proc_maps *maps);

/* The mapping that holds addr, or NULL. */
const struct mapping *proc_maps_find(const struct proc_maps *maps, uint64_t addr);

void proc_maps_deinit(struct proc_maps *maps);

#endif
