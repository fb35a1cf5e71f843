/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwind tables of files, in arenas that the BPF programs read. Each file gets one table, which
 * is kept until memleak ends. Files with equal tables, such as copies of a library in containers,
 * share one table. Build ids cannot identify equal files, since anybody can give a file the build
 * id of another file. Knows nothing of processes.
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

/* A file and the place of its unwind table. granule_cnt is 0 if the file has no table. */
struct unwind_file {
	struct file_version version;
	struct file_id backing; /* id of the file in the kernel; ino is 0 if unknown */
	uint64_t first;         /* file offset of the first granule that the table covers */
	uint32_t granule_cnt;
	uint32_t index;
	uint32_t arena;
	uint32_t page;
	uint32_t page_cnt;
	uint64_t hash;      /* hash of the table */
	ssize_t same_table; /* index of a file whose pending table is equal; negative if none */
	uint32_t symbols;   /* number in the symbolizer; 0 if not registered there */
};

/* The file whose table is being built, and the user to whom the time is charged. */
struct table_job {
	bool running;
	struct file_version version;
	int fd;
	char *name;
	uid_t uid;
	uint64_t since_ns;
	uint64_t delay_ns; /* result of unwinder__delay_ns() when the job began */
};

struct unwind_files {
	int arenas_fd;
	int files_fd; /* map of files, for BPF programs that look up mappings in the kernel */
	size_t published_cnt; /* number of files put into files_fd */
	struct map_updater *map_updater;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder; /* builder of the tables; NULL if no unwind tables are wanted */
	struct table_job job;
	int vdso_fd; /* copy of the vdso until its table is built; -1 if there is no copy */
	struct user_budgets budgets;
	struct unwind_file *items;
	size_t cnt;
	size_t cap;
	struct pending_table *pending; /* tables that are built, but not in an arena yet */
	size_t pending_cnt;
	size_t pending_cap;
	struct unwind_arena arena; /* the newest arena */
	/*
	 * Descriptors of all arenas. They stay open, as opening an arena by its id needs
	 * CAP_SYS_ADMIN.
	 */
	int *arena_fds;
	uint32_t arena_cnt;
	size_t arena_fd_cap;
	uint64_t bytes_max;
	bool logged_full;
	uint32_t without_table_cnt; /* files without a table, whether or not a message named them */

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

/* Returns the index of the file with this nonzero number in the symbolizer, or -ENOENT. */
ssize_t unwind_files_find(const struct unwind_files *files, uint32_t symbols);

/*
 * Returns the index of an open file. If the file is new, its table is built, but the place of the
 * table is known only after unwind_files_place(). name: for messages. uid: owner of the process.
 * Returns -ETIMEDOUT if the user's budget is used up, -EAGAIN if the table is not ready by
 * deadline_ns, or another negative errno.
 */
ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name, uid_t uid,
			 uint64_t deadline_ns);

/* Adds the table that is being built, if the table is ready. */
void unwind_files_poll(struct unwind_files *files);
/* True while a table is being built. New files have to wait until it is ready. */
bool unwind_files_busy(const struct unwind_files *files);

/*
 * Adds a file that could not be opened, without a table, unless it was added before. Logs the
 * reason. err: negative errno of opening it. Returns its index, or -ENOMEM.
 */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err);

/* Returns the index of the vdso. */
ssize_t unwind_files_add_vdso(struct unwind_files *files, uint64_t deadline_ns);

/* Returns the encoded frame (MEMLEAK_FRAME_FILE) for offset 0 of a file. */
uint64_t unwind_file_frame(size_t file);

/*
 * Puts new tables into an arena and passes their files to the BPF programs. A file whose table does
 * not fit gets no table.
 */
void unwind_files_place(struct unwind_files *files);

#endif
