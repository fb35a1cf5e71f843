/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, in the arenas that the programs read. A file has one table whatever
 * maps it; it stays to the end. Files whose tables are equal word by word (copies of a library, as
 * containers have them) share one; that their build-ids are equal would not do, as anybody can
 * give a file the build-id of another. Knows nothing of processes.
 */
#ifndef UNWIND_FILES_H
#define UNWIND_FILES_H

#include <sys/stat.h>
#include <sys/types.h>

#include "loader/unwind_arena.h"
#include "symbolizer/proc_maps.h"
#include "symbolizer/symbolizer.h"
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
	uint32_t page_cnt;
	uint64_t hash;    /* of the table */
	ssize_t twin;     /* a file whose equal table is not placed yet; negative: none */
	uint32_t symbols; /* what the symbolizer calls it; 0: frames in it are addresses */
};

struct unwind_files {
	int arenas_fd;
	struct publisher *publisher;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder; /* NULL: no tables are wanted */
	struct unwind_file *items;
	size_t cnt;
	size_t cap;
	struct unwind_table *pending; /* built, but in no arena yet */
	size_t *pending_of;           /* index of the file of each */
	size_t pending_cnt;
	struct unwind_arena arena; /* the newest */
	uint32_t arena_cnt;
	uint64_t bytes_max;
	bool told_full;
	uint32_t told_cnt; /* files that were told to have no table */

	uint64_t bytes;

	/* figures for -v */
	uint64_t code_bytes;
	uint64_t rows;
	uint64_t build_ns;
	size_t table_cnt;
	size_t shared_cnt;
};

int unwind_files_init(struct unwind_files *files, int arenas_fd, struct publisher *publisher,
		      struct symbolizer *symbolizer, bool wanted);
void unwind_files_deinit(struct unwind_files *files);

/*
 * The index of an open file, whose table is built if it is new. The fields but dev, ino, size and
 * mtime are valid after unwind_files_place. name is for messages. *patience_ms is how long may be
 * waited for files that turn out to give no table, and becomes less by each of them; once it is
 * used up, new files are refused. Returns a negative errno without memory or patience.
 */
ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name,
			 int64_t *patience_ms);

/* Of a file that cannot be opened, for which err tells the reason; it has no table. */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err);

/* The same for the library that the kernel maps into every process. */
ssize_t unwind_files_add_vdso(struct unwind_files *files);

/* Puts new tables into an arena; those that find no room are none. */
void unwind_files_place(struct unwind_files *files);

#endif
