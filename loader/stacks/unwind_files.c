// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds unwind tables and makes them available to the BPF programs. */
#include "loader/stacks/unwind_files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/regular_file.h"
#include "base/vdso.h"
#include "bpf/memleak.h"
#include "loader/probes/backing_inode.h"
#include "loader/stacks/map_updater.h"
#include "loader/target/elf_class.h"

/* Number of bits in the minor number of a device, in the kernel's format. */
#define KERNEL_MINOR_BITS 20

/* Number of spare pages in a new arena for later tables: one megabyte. */
#define SPARE_PAGES 256

/* Maximum messages that name a file without a table. */
#define LOGGED_MAX 20

/*
 * Maximum time to build a table, in nanoseconds. A file that takes longer gets no table. Time
 * during which the helper waits for a processor does not count, or else large files would get no
 * tables on a busy machine.
 */
#define HANG_NS (UNWINDER_WAIT_MS * 1000000ULL)
/*
 * Maximum time, in nanoseconds, that is subtracted from the building time of a table for waits for
 * a processor. Limited because other files wait for the helper meanwhile.
 */
#define DELAY_NS_MAX HANG_NS

struct pending_table {
	struct unwind_table table;
	size_t file; /* index of the file in unwind_files.items */
};

/*
 * Returns the memory limit for all tables: an eighth of the physical memory. Without a limit, the
 * table of a tiny sparse file could take 100 MB, which is as much as the tables of a whole
 * distribution.
 */
static uint64_t share_of_memory(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return bytes / 8;
}

int unwind_files_init(struct unwind_files *files, int arenas_fd, int files_fd,
		      struct map_updater *map_updater, struct symbolizer *symbolizer, bool wanted)
{
	*files = (struct unwind_files){
		.arenas_fd = arenas_fd,
		.files_fd = files_fd,
		.map_updater = map_updater,
		.symbolizer = symbolizer,
		.bytes_max = share_of_memory(),
		.vdso_fd = -1,
	};
	return wanted ? unwinder__new(&files->unwinder) : 0;
}

static void drop_pending(struct unwind_files *files)
{
	for (size_t i = 0; i < files->pending_cnt; i++)
		unwind_table_deinit(&files->pending[i].table);
	files->pending_cnt = 0;
}

static void drop_job(struct table_job *job)
{
	if (job->running)
		close(job->fd);
	free(job->name);
	*job = (struct table_job){0};
}

void unwind_files_deinit(struct unwind_files *files)
{
	unwinder__free(files->unwinder);
	drop_job(&files->job);
	if (files->vdso_fd > 0)
		close(files->vdso_fd);
	user_budgets_deinit(&files->budgets);
	for (uint32_t i = 0; i < files->arena_cnt; i++)
		close(files->arena_fds[i]);
	free(files->arena_fds);
	drop_pending(files);
	free(files->pending);
	free(files->items);
	*files = (struct unwind_files){0};
}

static ssize_t find(const struct unwind_files *files, const struct file_version *version)
{
	for (size_t i = 0; i < files->cnt; i++)
		if (file_version_equal(&files->items[i].version, version))
			return (ssize_t)i;
	return -ENOENT;
}

ssize_t unwind_files_find(const struct unwind_files *files, uint32_t symbols)
{
	for (size_t i = 0; i < files->cnt; i++)
		if (files->items[i].symbols == symbols)
			return (ssize_t)i;
	return -ENOENT;
}

/* Reserves room for one more file and its table. */
static int reserve(struct unwind_files *files)
{
	int err = array_reserve(&files->items, &files->cap, files->cnt + 1);

	return err ? err
		   : array_reserve(&files->pending, &files->pending_cap, files->pending_cnt + 1);
}

static void add_item(struct unwind_files *files, const struct file_version *version)
{
	files->items[files->cnt++] = (struct unwind_file){
		.version = *version,
		.same_table = -1,
	};
}

/* Logs that a file has no table. Only the first LOGGED_MAX files are named. */
static void log_no_table(struct unwind_files *files, const char *name, const char *why)
{
	if (files->without_table_cnt++ < LOGGED_MAX)
		log_note("no unwind table for %s: %s; stacks through it may be cut", name, why);
	else if (files->without_table_cnt == LOGGED_MAX + 1)
		log_note("further files without an unwind table are not logged");
}

static uint64_t hash_table(const struct unwind_table *table)
{
	uint64_t hash = table->first ^ table->granule_cnt;

	for (size_t i = 0; i < (size_t)table->page_cnt * UNWIND_PAGE_WORDS; i++)
		hash = (hash ^ table->words[i]) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 32;
}

static bool tables_equal(const struct unwind_table *a, const struct unwind_table *b)
{
	return a->page_cnt == b->page_cnt && a->index == b->index && a->first == b->first &&
	       a->granule_cnt == b->granule_cnt &&
	       !memcmp(a->words, b->words, (size_t)a->page_cnt * UNWIND_PAGE_BYTES);
}

/* Returns the index of a file whose pending table equals this table; -1 if there is none. */
static ssize_t find_same_pending(const struct unwind_files *files, const struct unwind_table *table)
{
	for (size_t i = 0; i < files->pending_cnt; i++)
		if (tables_equal(&files->pending[i].table, table))
			return (ssize_t)files->pending[i].file;
	return -1;
}

/* Returns a file whose table in an arena equals this table; NULL if there is none. */
static const struct unwind_file *find_same_placed(const struct unwind_files *files, uint64_t hash,
						  const struct unwind_table *table)
{
	for (size_t i = 0; i < files->cnt; i++) {
		const struct unwind_file *file = &files->items[i];

		if (file->hash == hash && file->granule_cnt == table->granule_cnt &&
		    file->index == table->index && file->first == table->first &&
		    file->page_cnt == table->page_cnt &&
		    unwind_arena_holds(files->arena_fds[file->arena], file->page, table))
			return file;
	}
	return NULL;
}

static void copy_place(struct unwind_file *to, const struct unwind_file *from)
{
	to->first = from->first;
	to->granule_cnt = from->granule_cnt;
	to->index = from->index;
	to->arena = from->arena;
	to->page = from->page;
	to->page_cnt = from->page_cnt;
	to->hash = from->hash;
}

/*
 * Adds the newest file's table to the pending tables. If another file has an equal table, drops the
 * new one, and makes both files share the older one. Returns 0 or -ENOSPC.
 */
static int keep(struct unwind_files *files, struct unwind_table *table)
{
	struct unwind_file *file = &files->items[files->cnt - 1];
	uint64_t hash = hash_table(table), bytes = (uint64_t)table->page_cnt * UNWIND_PAGE_BYTES;
	const struct unwind_file *placed = find_same_placed(files, hash, table);

	file->same_table = placed ? -1 : find_same_pending(files, table);
	if (placed)
		copy_place(file, placed);
	if (placed || file->same_table >= 0) {
		files->shared_cnt++;
		unwind_table_deinit(table);
		return 0;
	}
	if (bytes > files->bytes_max - files->bytes) {
		unwind_table_deinit(table);
		return -ENOSPC;
	}
	files->bytes += bytes;
	file->hash = hash;
	files->pending[files->pending_cnt++].file = files->cnt - 1;
	return 0;
}

static const char *reason_of(int err)
{
	switch (-err) {
	case EIO:
		return "reading it crashed the helper";
	case ETIMEDOUT:
		return "reading it takes too long";
	case ENOSPC:
		return "the memory limit of unwind tables is reached";
	case E2BIG:
		return "it is too large";
	case EREMOTE:
		return "another process serves it (FUSE)";
	default:
		return strerror(-err);
	}
}

/*
 * Registers the newest file with the symbolizer, so that addresses in it can be stored as file and
 * offset. Skips the vdso, which has no path, files that are not ELF, such as those into which JIT
 * compilers write code, and files whose number does not fit into a stack entry.
 */
static void register_symbols(struct unwind_files *files, int fd, const char *name)
{
	struct unwind_file *file = &files->items[files->cnt - 1];

	if (name[0] != '/' || elf_class(fd) < 0 || files->cnt > MEMLEAK_FRAME_FILES)
		return;
	if (symbolizer__add_file(files->symbolizer, fd, name, &file->symbols))
		file->symbols = 0;
}

static void add_opened(struct unwind_files *files, int fd, const struct file_version *version,
		       const char *name)
{
	add_item(files, version);
	register_symbols(files, fd, name);
	if (backing_inode(fd, &files->items[files->cnt - 1].backing))
		files->items[files->cnt - 1].backing.ino = 0;
}

/*
 * Returns how long the helper has worked on the current job, minus its waits for a processor (at
 * most DELAY_NS_MAX). unwinder__delay_ns() begins at 0 again if the helper is restarted.
 */
static uint64_t job_taken_ns(const struct unwind_files *files, uint64_t now_ns)
{
	uint64_t delay_ns = unwinder__delay_ns(files->unwinder), past_ns;

	delay_ns -= delay_ns < files->job.delay_ns ? delay_ns : files->job.delay_ns;
	if (delay_ns > DELAY_NS_MAX)
		delay_ns = DELAY_NS_MAX;
	past_ns = now_ns - files->job.since_ns;
	return past_ns > delay_ns ? past_ns - delay_ns : 0;
}

/*
 * Waits for the current table, and adds its file. Returns 0, -ENOMEM, or -EAGAIN if it is not ready
 * by deadline_ns. If building fails, adds the file without a table, so that building is not tried
 * again.
 */
static int finish_job(struct unwind_files *files, uint64_t deadline_ns)
{
	struct table_job *job = &files->job;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), taken_ns = job_taken_ns(files, now_ns);
	uint64_t hang_ns = now_ns + HANG_NS - taken_ns;
	struct unwind_table *table;
	int err = reserve(files);

	if (err)
		return err;
	table = &files->pending[files->pending_cnt].table;
	err = unwinder__take(files->unwinder, deadline_ns < hang_ns ? deadline_ns : hang_ns, table);
	now_ns = clock_ns(CLOCK_MONOTONIC);
	taken_ns = job_taken_ns(files, now_ns);
	if (err == -EAGAIN && taken_ns < HANG_NS)
		return -EAGAIN;
	if (err == -EAGAIN) {
		unwinder__give_up(files->unwinder);
		err = -ETIMEDOUT;
	}
	files->build_ns += taken_ns;
	user_budgets_spend(&files->budgets, job->uid, taken_ns, now_ns);
	add_opened(files, job->fd, &job->version, job->name);
	if (!err)
		err = keep(files, table);
	/* The file is not an ELF file, or has no frame information: log only with -v. */
	if (err == -ENOEXEC || err == -ENOENT)
		log_verbose("%s has no unwind information", job->name);
	else if (err)
		log_no_table(files, job->name, reason_of(err));
	drop_job(job);
	return 0;
}

static int begin_job(struct unwind_files *files, int fd, const struct file_version *version,
		     const char *name, uid_t uid)
{
	struct table_job job = {
		.running = true,
		.version = *version,
		.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
		.name = strdup(name),
		.uid = uid,
		.since_ns = clock_ns(CLOCK_MONOTONIC),
		.delay_ns = unwinder__delay_ns(files->unwinder),
	};
	int err = job.fd < 0 ? -errno : job.name ? unwinder__begin(files->unwinder, fd) : -ENOMEM;

	if (err && job.fd >= 0)
		close(job.fd);
	if (err)
		free(job.name);
	else
		files->job = job;
	return err;
}

static int build(struct unwind_files *files, int fd, const struct file_version *version,
		 const char *name, uid_t uid, uint64_t deadline_ns)
{
	int err = files->job.running ? finish_job(files, deadline_ns) : 0;

	/* finish_job() may just have added this file. */
	if (!err && find(files, version) >= 0)
		return 0;
	if (!err && !user_budgets_has_time(&files->budgets, uid, clock_ns(CLOCK_MONOTONIC)))
		return -ETIMEDOUT;
	if (!err && !clock_left_ms(deadline_ns))
		return -EAGAIN;
	if (!err)
		err = begin_job(files, fd, version, name, uid);
	return err ? err : finish_job(files, deadline_ns);
}

ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name, uid_t uid,
			 uint64_t deadline_ns)
{
	struct file_version version;
	struct stat st;
	ssize_t known;
	int err;

	err = file_stat(fd, &st);
	if (err)
		return err;
	version = file_version_of(&st);
	known = find(files, &version);
	if (known >= 0)
		return known;
	if (files->unwinder) {
		err = build(files, fd, &version, name, uid, deadline_ns);
		return err ? err : find(files, &version);
	}
	if (reserve(files))
		return -ENOMEM;
	add_opened(files, fd, &version, name);
	return (ssize_t)files->cnt - 1;
}

void unwind_files_poll(struct unwind_files *files)
{
	if (files->job.running)
		finish_job(files, 0);
}

bool unwind_files_busy(const struct unwind_files *files)
{
	return files->job.running;
}

/*
 * Identifies the file by its id in the mapping. Its size is unknown, and is set to -1, so that the
 * file is never taken for one that was opened.
 */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err)
{
	const struct file_version version = {.id = mapping->file, .size = -1};
	ssize_t known = find(files, &version);

	if (known >= 0)
		return known;
	if (reserve(files))
		return -ENOMEM;
	add_item(files, &version);
	if (files->unwinder)
		log_no_table(files, mapping->path, reason_of(err));
	return (ssize_t)files->cnt - 1;
}

/* The vdso is the only file with inode 0. */
ssize_t unwind_files_add_vdso(struct unwind_files *files, uint64_t deadline_ns)
{
	ssize_t added;

	for (size_t i = 0; i < files->cnt; i++)
		if (!files->items[i].version.id.ino)
			return (ssize_t)i;
	if (files->vdso_fd < 0)
		files->vdso_fd = vdso_copy();
	if (files->vdso_fd < 0)
		return -ENOENT;
	added = unwind_files_add(files, files->vdso_fd, "[vdso]", 0, deadline_ns);
	if (added < 0)
		return added;
	files->items[added].version.id = files->items[added].backing = (struct file_id){0};
	close(files->vdso_fd);
	files->vdso_fd = -1;
	return added;
}

/* Stores where the file's table is in the arenas. */
static void note_place(struct unwind_files *files, struct unwind_file *file,
		       const struct unwind_table *table)
{
	file->first = table->first;
	file->granule_cnt = table->granule_cnt;
	file->index = table->index;
	file->arena = files->arena.number;
	file->page = files->arena.used - table->page_cnt;
	file->page_cnt = table->page_cnt;
	files->rows += table->row_cnt;
	files->code_bytes += (uint64_t)table->granule_cnt * UNWIND_GRANULE_BYTES;
	files->table_cnt++;
}

/* Copies the place of each shared table to all files that share the table. */
static void note_same_tables(struct unwind_files *files)
{
	for (size_t i = 0; i < files->cnt; i++) {
		struct unwind_file *file = &files->items[i];

		if (file->same_table >= 0)
			copy_place(file, &files->items[file->same_table]);
		file->same_table = -1;
	}
}

/*
 * Creates an arena unless the newest has room for page_cnt pages. Adds spare pages, so that
 * libraries loaded one by one do not each get an arena.
 */
static int make_room(struct unwind_files *files, uint64_t page_cnt)
{
	struct unwind_arena arena;
	int err;

	if (files->arena.page_cnt - files->arena.used >= page_cnt)
		return 0;
	if (files->arena_cnt == UNWIND_ARENAS_MAX || page_cnt > UINT32_MAX - SPARE_PAGES)
		return -ENOSPC;
	err = array_reserve(&files->arena_fds, &files->arena_fd_cap, files->arena_cnt + 1);
	if (!err)
		err = unwind_arena_init(files->arena_cnt, (uint32_t)page_cnt + SPARE_PAGES, &arena);
	if (err)
		return err;
	err = map_updater__put(files->map_updater, files->arenas_fd, files->arena_cnt, arena.fd);
	if (err) {
		close(arena.fd);
		return err;
	}
	files->arena_fds[files->arena_cnt++] = arena.fd;
	files->arena = arena;
	return 0;
}

/* Drops a table for which there was no room. Clears its hash, so that no other file shares it. */
static void forget(struct unwind_files *files, struct unwind_file *file,
		   const struct unwind_table *table, int err)
{
	file->hash = 0;
	files->bytes -= (uint64_t)table->page_cnt * UNWIND_PAGE_BYTES;
	if (!files->logged_full)
		log_note("no room for the unwind tables of %zu files: stacks through them may be "
			 "cut (%s)",
			 files->pending_cnt, strerror(-err));
	files->logged_full = true;
}

uint64_t unwind_file_frame(size_t file)
{
	return MEMLEAK_FRAME_FILE | (uint64_t)file << MEMLEAK_FRAME_OFFSET_BITS;
}

/* Passes a file's table to the BPF programs. An older file with the same key is replaced. */
static void publish_file(const struct unwind_files *files, size_t at)
{
	const struct unwind_file *file = &files->items[at];
	const struct unwind_file_key key = {
		.ino = file->backing.ino,
		.dev = (uint64_t)major(file->backing.dev) << KERNEL_MINOR_BITS |
		       minor(file->backing.dev),
	};
	const struct unwind_file_table table = {
		.size = file->version.size,
		.mtime_sec = file->version.mtime.tv_sec,
		.mtime_nsec = (uint32_t)file->version.mtime.tv_nsec,
		.granule_cnt = file->granule_cnt,
		.first = file->first,
		.frame = file->symbols ? unwind_file_frame(at) : 0,
		.index = file->index,
		.arena = file->arena,
		.page = file->page,
	};

	/*
	 * Ignore errors: if the map is full, only BPF programs that ask the kernel for mappings
	 * cannot unwind through the file.
	 */
	if (key.ino)
		bpf_map_update_elem(files->files_fd, &key, &table, BPF_ANY);
}

static void place_pending(struct unwind_files *files)
{
	uint64_t page_cnt = 0;
	int err;

	for (size_t i = 0; i < files->pending_cnt; i++)
		page_cnt += files->pending[i].table.page_cnt;
	err = make_room(files, page_cnt);
	for (size_t i = 0; i < files->pending_cnt; i++) {
		const struct unwind_table *table = &files->pending[i].table;
		struct unwind_file *file = &files->items[files->pending[i].file];

		if (!err)
			err = unwind_arena_add(&files->arena, table);
		if (err)
			forget(files, file, table, err);
		else
			note_place(files, file, table);
	}
	note_same_tables(files);
	drop_pending(files);
}

void unwind_files_place(struct unwind_files *files)
{
	if (files->pending_cnt)
		place_pending(files);
	while (files->published_cnt < files->cnt)
		publish_file(files, files->published_cnt++);
}
