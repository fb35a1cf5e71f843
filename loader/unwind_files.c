// SPDX-License-Identifier: GPL-2.0-or-later
/* Has unwind tables built and gives them to the programs. */
#include "loader/unwind_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "bpf/memleak.h"
#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/elf_functions.h"
#include "loader/log.h"
#include "loader/publisher.h"
#include "loader/vdso.h"

/* Room in an arena for tables that come later: a megabyte. */
#define SPARE_PAGES 256

/* Files without a table that are told one by one. */
#define TOLD_MAX 20

/*
 * The tables of a whole distribution take 100 MB. A file that is nearly all hole gets a table of
 * the same size from a few bytes: so they have a share of the memory, and no more.
 */
static uint64_t share_of_memory(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return bytes / 8;
}

int unwind_files_init(struct unwind_files *files, int arenas_fd, struct publisher *publisher,
		      struct symbolizer *symbolizer, bool wanted)
{
	*files = (struct unwind_files){
		.arenas_fd = arenas_fd,
		.publisher = publisher,
		.symbolizer = symbolizer,
		.bytes_max = share_of_memory(),
	};
	return wanted ? unwinder__new(&files->unwinder) : 0;
}

static void drop_pending(struct unwind_files *files)
{
	for (size_t i = 0; i < files->pending_cnt; i++)
		unwind_table_deinit(&files->pending[i]);
	files->pending_cnt = 0;
}

void unwind_files_deinit(struct unwind_files *files)
{
	unwinder__free(files->unwinder);
	unwind_arena_deinit(&files->arena);
	drop_pending(files);
	free(files->pending);
	free(files->pending_of);
	free(files->items);
	*files = (struct unwind_files){0};
}

static bool is_same(const struct unwind_file *file, const struct stat *st)
{
	return file->dev == st->st_dev && file->ino == st->st_ino && file->size == st->st_size &&
	       file->mtime.tv_sec == st->st_mtim.tv_sec &&
	       file->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

static int reserve(struct unwind_files *files)
{
	size_t cap = files->cap ? files->cap * 2 : 64;
	struct unwind_file *items;
	struct unwind_table *pending;
	size_t *pending_of;

	if (files->cnt < files->cap)
		return 0;
	items = reallocarray(files->items, cap, sizeof(*items));
	files->items = items ? items : files->items;
	pending = reallocarray(files->pending, cap, sizeof(*pending));
	files->pending = pending ? pending : files->pending;
	pending_of = reallocarray(files->pending_of, cap, sizeof(*pending_of));
	files->pending_of = pending_of ? pending_of : files->pending_of;
	if (!items || !pending || !pending_of)
		return -ENOMEM;
	files->cap = cap;
	return 0;
}

static void add_item(struct unwind_files *files, const struct stat *st)
{
	files->items[files->cnt++] = (struct unwind_file){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime = st->st_mtim,
		.twin = -1,
	};
}

/* Says that a file has no table; of many, only the first are named. */
static void tell(struct unwind_files *files, const char *name, const char *why)
{
	if (files->told_cnt++ < TOLD_MAX)
		log_note("no unwind table for %s: %s; stacks through it may be cut", name, why);
	else if (files->told_cnt == TOLD_MAX + 1)
		log_note("more files have no unwind table");
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

/* A file that waits to be placed and has the same table. */
static ssize_t find_pending_twin(const struct unwind_files *files, const struct unwind_table *table)
{
	for (size_t i = 0; i < files->pending_cnt; i++)
		if (tables_equal(&files->pending[i], table))
			return (ssize_t)files->pending_of[i];
	return -1;
}

/* The same among those that are placed. */
static const struct unwind_file *find_placed_twin(const struct unwind_files *files, uint64_t hash,
						  const struct unwind_table *table)
{
	for (size_t i = 0; i < files->cnt; i++) {
		const struct unwind_file *file = &files->items[i];

		if (file->hash == hash && file->granule_cnt == table->granule_cnt &&
		    file->index == table->index && file->first == table->first &&
		    file->page_cnt == table->page_cnt &&
		    unwind_arena_holds(files->arenas_fd, file->arena, file->page, table))
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

/* The newest file's table is there; it waits to be placed, unless another file has the same. */
static int keep(struct unwind_files *files, struct unwind_table *table)
{
	struct unwind_file *file = &files->items[files->cnt - 1];
	uint64_t hash = hash_table(table), bytes = (uint64_t)table->page_cnt * UNWIND_PAGE_BYTES;
	const struct unwind_file *placed = find_placed_twin(files, hash, table);

	file->twin = placed ? -1 : find_pending_twin(files, table);
	if (placed)
		copy_place(file, placed);
	if (placed || file->twin >= 0) {
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
	files->pending_of[files->pending_cnt++] = files->cnt - 1;
	return 0;
}

static const char *reason_of(int err)
{
	switch (-err) {
	case EIO:
		return "reading it ended the process that did";
	case ETIMEDOUT:
		return "it takes too long to read";
	case ENOSPC:
		return "tables have taken their share of the memory";
	case E2BIG:
		return "it is too large";
	default:
		return strerror(-err);
	}
}

/* Asks for the table of the newest file. One that has none is not asked for again. */
static void build(struct unwind_files *files, int fd, const char *name, int64_t *patience_ms)
{
	struct unwind_table *table = &files->pending[files->pending_cnt];
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC), taken_ns;
	unsigned int wait_ms =
		*patience_ms < UNWINDER_WAIT_MS ? (unsigned int)*patience_ms : UNWINDER_WAIT_MS;
	int err = unwinder__table(files->unwinder, fd, wait_ms, table);

	taken_ns = clock_ns(CLOCK_MONOTONIC) - start_ns;
	files->build_ns += taken_ns;
	if (err)
		*patience_ms -= (int64_t)(taken_ns / 1000000);
	else
		err = keep(files, table);
	/* No ELF file, or none that describes its frames: that is how it was made. */
	if (err == -ENOEXEC || err == -ENOENT)
		log_verbose("%s has no unwind information", name);
	else if (err)
		tell(files, name, reason_of(err));
}

/*
 * Frames of the newest file are to be told as places in it. Not in the vdso, which has no path, nor
 * in files that compilers write their code to: there, it is replaced.
 */
static void register_symbols(struct unwind_files *files, int fd, const char *name)
{
	struct unwind_file *file = &files->items[files->cnt - 1];

	if (name[0] != '/' || elf_class(fd) < 0 || files->cnt > MEMLEAK_FRAME_FILES)
		return;
	if (symbolizer__add_file(files->symbolizer, fd, name, &file->symbols))
		file->symbols = 0;
}

ssize_t unwind_files_add(struct unwind_files *files, int fd, const char *name, int64_t *patience_ms)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	for (size_t i = 0; i < files->cnt; i++)
		if (is_same(&files->items[i], &st))
			return (ssize_t)i;
	if (files->unwinder && *patience_ms <= 0)
		return -ETIMEDOUT;
	if (reserve(files))
		return -ENOMEM;
	add_item(files, &st);
	register_symbols(files, fd, name);
	if (files->unwinder)
		build(files, fd, name, patience_ms);
	return (ssize_t)files->cnt - 1;
}

/* Known by what maps say of it, and no file that was opened has a size like that. */
ssize_t unwind_files_add_unreadable(struct unwind_files *files, const struct mapping *mapping,
				    int err)
{
	struct stat st = {
		.st_dev = makedev(mapping->dev_major, mapping->dev_minor),
		.st_ino = mapping->inode,
		.st_size = -1,
	};

	for (size_t i = 0; i < files->cnt; i++)
		if (is_same(&files->items[i], &st))
			return (ssize_t)i;
	if (reserve(files))
		return -ENOMEM;
	add_item(files, &st);
	if (files->unwinder)
		tell(files, mapping->path, reason_of(err));
	return (ssize_t)files->cnt - 1;
}

/* Kept as the one file without an inode. */
ssize_t unwind_files_add_vdso(struct unwind_files *files)
{
	int64_t patience_ms = UNWINDER_WAIT_MS;
	cleanup_close int fd = -1;
	ssize_t added;

	for (size_t i = 0; i < files->cnt; i++)
		if (!files->items[i].ino)
			return (ssize_t)i;
	fd = vdso_copy();
	if (fd < 0)
		return -ENOENT;
	added = unwind_files_add(files, fd, "[vdso]", &patience_ms);
	if (added >= 0) {
		files->items[added].dev = 0;
		files->items[added].ino = 0;
	}
	return added;
}

/* From now on the file has its table. */
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

/* Those that share a table of this batch; without a place it has none to share. */
static void note_twins(struct unwind_files *files)
{
	for (size_t i = 0; i < files->cnt; i++) {
		struct unwind_file *file = &files->items[i];

		if (file->twin >= 0)
			copy_place(file, &files->items[file->twin]);
		file->twin = -1;
	}
}

/* Libraries that come one by one shall not each wait for a new arena. */
static int make_room(struct unwind_files *files, uint64_t page_cnt)
{
	int err;

	if (files->arena.page_cnt - files->arena.used >= page_cnt)
		return 0;
	if (files->arena_cnt == UNWIND_ARENAS_MAX || page_cnt > UINT32_MAX - SPARE_PAGES)
		return -ENOSPC;
	err = unwind_arena_init(&files->arena, files->arena_cnt, (uint32_t)page_cnt + SPARE_PAGES);
	if (err)
		return err;
	err = publisher__put(files->publisher, files->arenas_fd, files->arena_cnt, files->arena.fd);
	if (err)
		unwind_arena_deinit(&files->arena);
	else
		files->arena_cnt++;
	return err;
}

/* The file stays without; so it is not to be taken for others' twin either. */
static void forget(struct unwind_files *files, struct unwind_file *file,
		   const struct unwind_table *table, int err)
{
	file->hash = 0;
	files->bytes -= (uint64_t)table->page_cnt * UNWIND_PAGE_BYTES;
	if (!files->told_full)
		log_note("no room for the unwind tables of %zu files: stacks through them may be "
			 "cut (%s)",
			 files->pending_cnt, strerror(-err));
	files->told_full = true;
}

void unwind_files_place(struct unwind_files *files)
{
	uint64_t page_cnt = 0;
	int err;

	if (!files->pending_cnt)
		return;
	for (size_t i = 0; i < files->pending_cnt; i++)
		page_cnt += files->pending[i].page_cnt;
	err = make_room(files, page_cnt);
	for (size_t i = 0; i < files->pending_cnt; i++) {
		struct unwind_file *file = &files->items[files->pending_of[i]];

		if (!err)
			err = unwind_arena_add(&files->arena, &files->pending[i]);
		if (err)
			forget(files, file, &files->pending[i], err);
		else
			note_place(files, file, &files->pending[i]);
	}
	note_twins(files);
	drop_pending(files);
}
