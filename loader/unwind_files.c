// SPDX-License-Identifier: GPL-2.0-or-later
/* Has unwind tables built and gives them to the programs. */
#include "loader/unwind_files.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "loader/cleanup.h"
#include "loader/clock.h"
#include "loader/log.h"
#include "symbolizer/proc_maps.h"

#define PAGE_BYTES (UNWIND_PAGE_WORDS * sizeof(uint32_t))

int unwind_files_init(struct unwind_files *files, int arenas_fd, bool wanted)
{
	*files = (struct unwind_files){.arenas_fd = arenas_fd};
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

/* Asks for the table of a file that is new; one that has none is not asked for again. */
static void build(struct unwind_files *files, size_t file, int fd)
{
	struct unwind_table *table = &files->pending[files->pending_cnt];
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	int err = unwinder__table(files->unwinder, fd, table);

	files->build_ns += clock_ns(CLOCK_MONOTONIC) - start_ns;
	if (err && err != -ENOEXEC && err != -ENOENT)
		log_verbose("a file that is mapped has no unwind table: %s", strerror(-err));
	if (!err)
		files->pending_of[files->pending_cnt++] = file;
}

ssize_t unwind_files_add(struct unwind_files *files, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	for (size_t i = 0; i < files->cnt; i++)
		if (is_same(&files->items[i], &st))
			return (ssize_t)i;
	if (reserve(files))
		return -ENOMEM;
	files->items[files->cnt++] = (struct unwind_file){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = st.st_size,
		.mtime = st.st_mtim,
	};
	if (files->unwinder)
		build(files, files->cnt - 1, fd);
	return (ssize_t)files->cnt - 1;
}

/* A copy of our own: the same in all processes, and nobody's to change. */
int unwind_files_copy_vdso(void)
{
	const struct mapping *vdso = NULL;
	struct proc_maps maps;
	int fd = -ENOENT;

	if (proc_maps_read(getpid(), &maps))
		return -ENOENT;
	for_each_mapping (mapping, &maps)
		if (!strcmp(mapping->path, "[vdso]"))
			vdso = mapping;
	if (vdso) {
		size_t size = vdso->end - vdso->start;

		fd = memfd_create("vdso", MFD_CLOEXEC);
		if (fd >= 0 && write(fd, (void *)vdso->start, size) != (ssize_t)size) {
			close(fd);
			fd = -EIO;
		}
	}
	proc_maps_deinit(&maps);
	return fd;
}

/* Kept as the one file without an inode. */
ssize_t unwind_files_add_vdso(struct unwind_files *files)
{
	cleanup_close int fd = -1;
	ssize_t added;

	for (size_t i = 0; i < files->cnt; i++)
		if (!files->items[i].ino)
			return (ssize_t)i;
	fd = unwind_files_copy_vdso();
	if (fd < 0)
		return -ENOENT;
	added = unwind_files_add(files, fd);
	if (added >= 0) {
		files->items[added].dev = 0;
		files->items[added].ino = 0;
	}
	return added;
}

static int write_pages(int fd, uint32_t first, const struct unwind_table *table)
{
	cleanup_free uint32_t *keys = reallocarray(NULL, table->page_cnt, sizeof(*keys));
	uint32_t cnt = table->page_cnt;

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < cnt; i++)
		keys[i] = first + i;
	return bpf_map_update_batch(fd, keys, table->words, &cnt, NULL) ? -errno : 0;
}

/* An array of its own for this batch: arrays do not grow, and a table lies in one. */
static int fill_arena(struct unwind_files *files, uint32_t page_cnt)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	cleanup_close int fd = -1;
	uint32_t page = 0;

	if (files->arena_cnt == UNWIND_ARENAS_MAX)
		return -ENOSPC;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_arena", sizeof(uint32_t), PAGE_BYTES,
			    page_cnt, &opts);
	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < files->pending_cnt; i++) {
		int err = write_pages(fd, page, &files->pending[i]);

		if (err)
			return err;
		page += files->pending[i].page_cnt;
	}
	if (bpf_map_update_elem(files->arenas_fd, &files->arena_cnt, &fd, BPF_ANY))
		return -errno;
	return 0;
}

/* From now on the files have their tables. */
static void note_places(struct unwind_files *files)
{
	uint32_t page = 0;

	for (size_t i = 0; i < files->pending_cnt; i++) {
		const struct unwind_table *table = &files->pending[i];
		struct unwind_file *file = &files->items[files->pending_of[i]];

		file->first = table->first;
		file->granule_cnt = table->granule_cnt;
		file->index = table->index;
		file->arena = files->arena_cnt;
		file->page = page;
		page += table->page_cnt;
		files->rows += table->row_cnt;
		files->table_cnt++;
	}
	files->bytes += page * PAGE_BYTES;
	files->arena_cnt++;
}

void unwind_files_place(struct unwind_files *files)
{
	uint64_t page_cnt = 0;
	int err;

	if (!files->pending_cnt)
		return;
	for (size_t i = 0; i < files->pending_cnt; i++)
		page_cnt += files->pending[i].page_cnt;
	err = page_cnt > UINT32_MAX ? -ENOSPC : fill_arena(files, (uint32_t)page_cnt);
	if (!err)
		note_places(files);
	else if (!files->told_full) {
		log_note("no room for the unwind tables of %zu files: stacks through them may be "
			 "cut (%s)",
			 files->pending_cnt, strerror(-err));
		files->told_full = true;
	}
	drop_pending(files);
}
