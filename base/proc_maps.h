/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses /proc/PID/maps into plain data. Opens only the maps file, not the mapped files. */
#ifndef BASE_PROC_MAPS_H
#define BASE_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_id.h"

struct mapping {
	uint64_t start;
	uint64_t end;    /* end address, exclusive */
	uint64_t offset; /* file offset of start, in bytes; 0 for anonymous memory */
	/*
	 * inode and device numbers as in the maps file; stat() may return others: see file_id.h
	 */
	struct file_id file;
	bool readable;
	bool writable;
	bool executable;
	bool shared;
	/*
	 * True if the kernel shows " (deleted)" after the path; `path` does not contain this
	 * suffix. Also true for a file whose name really ends in " (deleted)": the two cases cannot
	 * be distinguished.
	 */
	bool deleted;
	/*
	 * True if the server of the file may not answer, so that pages which are not in memory must
	 * not be read. False if unknown, as for mappings read from /proc.
	 */
	bool is_served;
	/*
	 * Unescaped path as the process sees it, or "[heap]", "[anon:x]" etc.; "" if there is none.
	 */
	const char *path;
	/* CLOCK_REALTIME time of the mmap(); 0 if unknown, as for mappings read from /proc */
	int64_t since_ns;
	/*
	 * Programs that move their code to huge pages replace a part of a file's mapping by
	 * anonymous memory. For this memory, `file`, `offset` and `path` are those of the replaced
	 * part, and beside_start and beside_end are the address range of a neighbouring mapping of
	 * the file. For all other mappings, beside_start and beside_end are 0.
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
	char *path_store; /* memory with all paths; several mappings may share a path */
	size_t text_bytes;
	/*
	 * True if no line is missing: each line was valid, and the process had neither exited nor
	 * called exec when the last line had been read.
	 */
	bool whole;
	/* true if reading stopped at PROC_MAPS_LINES_MAX or _BYTES_MAX, or at an overlong line */
	bool cut;
};

/*
 * Limits on reading a process's mappings: the kernel takes a second to generate 100 MB of text.
 * When the distinct paths exceed a total of PROC_MAPS_PATH_BYTES_MAX bytes, the remaining paths are
 * replaced by "".
 */
#define PROC_MAPS_LINES_MAX (1 << 18)
#define PROC_MAPS_BYTES_MAX (16 << 20)
#define PROC_MAPS_PATH_BYTES_MAX (8 << 20)

#define for_each_mapping(m, maps)                                                                  \
	for (const struct mapping *m = (maps)->mappings; m < (maps)->mappings + (maps)->cnt; m++)

/*
 * Parses `text`, which needs no final NUL. Skips lines that are invalid or out of order. Fails only
 * with -ENOMEM. The caller frees *ret with proc_maps_deinit().
 */
int proc_maps_parse(const char *text, size_t len, struct proc_maps *ret);

/*
 * Reads a process's mappings. A zombie, a kernel thread, or a process that ends during the call has
 * no mappings, which is no error. Fails with -ENOMEM, -EAGAIN if the process's memory map stays
 * locked (limited_call.h), or an error of open() or read() (-ENOENT, -ESRCH, -EACCES ...).
 */
int proc_maps_read(pid_t pid, struct proc_maps *ret);

/*
 * Finds the processes that keep their memory maps locked, in one shared wait
 * (limited_calls_share_waits()): further reads of their mappings fail at once.
 */
void proc_maps_find_locked(const pid_t *pids, size_t cnt);

/*
 * Reads an open /proc/PID/maps from its beginning. An open maps file never shows the mappings of a
 * program executed later: after exec or exit, it is empty. Fails as proc_maps_read().
 */
int proc_maps_read_fd(pid_t pid, int fd, struct proc_maps *ret);

/*
 * Returns the minimum interval, in nanoseconds, between two reads of a process's mappings. The
 * interval saves processor time: it is 0 for fewer than 1024 mappings, and one to two seconds for
 * 60,000 mappings.
 */
uint64_t proc_maps_interval_ns(const struct proc_maps *maps);

/* Returns the mapping that contains addr; NULL if there is none. */
const struct mapping *proc_maps_find(const struct proc_maps *maps, uint64_t addr);

void proc_maps_deinit(struct proc_maps *maps);

#endif
