/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, in arenas that the programs read. Each file gets one table, kept
 * until memleak ends. Files with identical tables (copies of a library in containers) share one.
 * Build ids would not do: anybody can give a file the build id of another. Knows nothing of
 * processes.
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

/* Where a file's table is; granule_cnt is 0 if there is none. */
struct unwind_file {
	struct file_version version;
	struct file_id backing; /* as the kernel sees it; ino is 0 if unknown */
	uint64_t first;         /* offset of the first granule in the file */
	uint32_t granule_cnt;
	uint32_t index;
	uint32_t arena;
	uint32_t page;
	uint32_t page_cnt;
	uint64_t hash;    /* hash of the table */
	ssize_t twin;     /* pending file with an equal table; negative if there is none */
	uint32_t symbols; /* the symbolizer's number; 0 if frames in the file stay addresses */
};

/* The file whose table is being built, and the user to charge. */
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
	int files_fd;       /* map of files, for programs that ask the kernel for mappings */
	size_t told_by_now; /* number of files put into files_fd */
	struct map_updater *map_updater;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder; /* NULL if no tables are wanted */
	struct table_job job;
	int vdso_fd; /* copy of the vdso until its table is built; -1 if there is none */
	struct user_budgets budgets;
	struct unwind_file *items;
	size_t cnt;
	size_t cap;
	struct pending_table *pending; /* built, but in no arena yet */
	size_t pending_cnt;
	size_t pending_cap;
	struct unwind_arena arena; /* the newest one */
	int *arena_fds; /* all arenas: opening one again by its id would need CAP_SYS_ADMIN */
	uint32_t arena_cnt;
	size_t arena_fd_cap;
	uint64_t bytes_max;
	bool told_full;
	uint32_t told_cnt; /* files reported to have no table */

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
 * Returns the index of an open file and has its table built if the file is new. Only the file's
 * version is valid before unwind_files_place(). name is for messages, uid owns the process. Returns
 * -ETIMEDOUT if the user's budget is used up, -EAGAIN if the table is not ready by deadline_ns, or
 * another negative errno.
 */
ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name, uid_t uid,
			 uint64_t deadline_ns);

/* Adds the table being built if it is ready. */
void unwind_files_poll(struct unwind_files *files);
/* True while a table is being built; new files have to wait. */
bool unwind_files_busy(const struct unwind_files *files);

/* Returns the index of a file that cannot be opened because of err; it has no table. */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err);

/* Returns the index of the vdso. */
ssize_t unwind_files_add_vdso(struct unwind_files *files, uint64_t deadline_ns);

/* Returns the frame at offset 0 of a file. */
uint64_t unwind_file_frame(size_t file);

/*
 * Puts new tables into an arena and publishes the files to the programs. Files whose tables do not
 * fit have none.
 */
void unwind_files_place(struct unwind_files *files);

#endif
