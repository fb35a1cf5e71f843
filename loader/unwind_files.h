/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, in the arenas that the programs read. A file has one table whatever
 * maps it; it stays to the end. Knows nothing of processes.
 */
#ifndef UNWIND_FILES_H
#define UNWIND_FILES_H

#include <sys/stat.h>
#include <sys/types.h>

#include "unwinder/unwinder.h"

/* Where the table of a file is; granule_cnt 0: it has none. */
struct unwind_file {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	uint64_t first; /* offset of the first granule in the file */
	uint32_t granule_cnt;
	uint32_t index;
	uint32_t arena;
	uint32_t page;
};

struct unwind_files {
	int arenas_fd;
	struct unwinder *unwinder; /* NULL: no tables are wanted */
	struct unwind_file *items;
	size_t cnt;
	size_t cap;
	struct unwind_table *pending; /* built, but in no arena yet */
	size_t *pending_of;           /* index of the file of each */
	size_t pending_cnt;
	uint32_t arena_cnt;
	bool told_full;

	/* figures for -v */
	uint64_t bytes;
	uint64_t rows;
	uint64_t build_ns;
	size_t table_cnt;
};

int unwind_files_init(struct unwind_files *files, int arenas_fd, bool wanted);
void unwind_files_deinit(struct unwind_files *files);

/*
 * The index of an open file, whose table is built if it is new. The fields but dev, ino, size and
 * mtime are valid after unwind_files_place. Returns a negative errno only without memory.
 */
ssize_t unwind_files_add(struct unwind_files *files, int fd);

/* The same for the library that the kernel maps into every process. */
ssize_t unwind_files_add_vdso(struct unwind_files *files);

/* A copy of that library in memory, as a descriptor; or a negative errno. */
int unwind_files_copy_vdso(void);

/* Puts new tables into an arena; those that find no room are none. */
void unwind_files_place(struct unwind_files *files);

#endif
