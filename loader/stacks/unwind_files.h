/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, in the arenas that the programs read. A file has one table, whatever
 * maps it, until memleak ends. Files whose tables are equal word by word (copies of a library, as
 * containers have them) share one. Equal build-ids would not do, as anybody can give a file the
 * build-id of another. Knows nothing of processes.
 */
#ifndef LOADER_STACKS_UNWIND_FILES_H
#define LOADER_STACKS_UNWIND_FILES_H

#include <sys/stat.h>
#include <sys/types.h>

#include "base/file_id.h"
#include "base/proc_maps.h"
#include "loader/stacks/arena.h"
#include "loader/stacks/user_budgets.h"
#include "symbolizer/symbolizer.h"
#include "unwinder/unwinder.h"

/* Where the table of a file is; granule_cnt 0: it has none. */
struct unwind_file {
	struct file_version version;
	struct file_id backing; /* as the kernel has it; ino 0: not known */
	uint64_t first;         /* offset of the first granule in the file */
	uint32_t granule_cnt;
	uint32_t index;
	uint32_t arena;
	uint32_t page;
	uint32_t page_cnt;
	uint64_t hash;    /* of the table */
	ssize_t twin;     /* a file whose equal table is not placed yet; negative: none */
	uint32_t symbols; /* the file's number at the symbolizer; 0: frames in it are addresses */
};

/* The file whose table is being made, and for whom. */
struct table_job {
	bool running;
	struct file_version version;
	int fd;
	char *name;
	uid_t uid;
	uint64_t since_ns;
};

struct unwind_files {
	int arenas_fd;
	int files_fd;       /* the files, for programs that ask the kernel what is mapped */
	size_t told_by_now; /* so many of the files were put there */
	struct map_updater *map_updater;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder; /* NULL: no tables are wanted */
	struct table_job job;
	int vdso_fd; /* a copy of the vdso, until its table is there; -1: none */
	struct user_budgets budgets;
	struct unwind_file *items;
	size_t cnt;
	size_t cap;
	struct pending_table *pending; /* built, but in no arena yet */
	size_t pending_cnt;
	size_t pending_cap;
	struct unwind_arena arena; /* the newest */
	int *arena_fds; /* of all, as only CAP_SYS_ADMIN may open them again, by their ids */
	uint32_t arena_cnt;
	size_t arena_fd_cap;
	uint64_t bytes_max;
	bool told_full;
	uint32_t told_cnt; /* files that were reported to have no table */

	uint64_t bytes;

	/* statistics for -v */
	uint64_t code_bytes;
	uint64_t rows;
	uint64_t build_ns;
	size_t table_cnt;
	size_t shared_cnt;
};

int unwind_files_init(struct unwind_files *files, int arenas_fd, int files_fd,
		      struct map_updater *map_updater, struct symbolizer *symbolizer, bool wanted);
void unwind_files_deinit(struct unwind_files *files);

/*
 * The index of an open file, whose table is made if it is new. All but its version is valid after
 * unwind_files_place. name is for messages; uid is the user whose process maps it. Returns a
 * negative errno without memory; -ETIMEDOUT: files of that user have taken too long; -EAGAIN: it
 * was not there by deadline_ns, but will be.
 */
ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name, uid_t uid,
			 uint64_t deadline_ns);

/* Takes a table that has been made, whoever wanted it. */
void unwind_files_poll(struct unwind_files *files);
/* A table is being made: files that are not known have to wait. */
bool unwind_files_busy(const struct unwind_files *files);

/* The index of a file that cannot be opened, for the reason err; it has no table. */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err);

/* The index of the vdso, the library that the kernel maps into every process. */
ssize_t unwind_files_add_vdso(struct unwind_files *files, uint64_t deadline_ns);

/* What the frames in the file of that index are, but for their offset in it. */
uint64_t unwind_file_frame(size_t file);

/*
 * Puts new tables into an arena, and tells the programs of their files. Files whose tables find no
 * room have none.
 */
void unwind_files_place(struct unwind_files *files);

#endif
