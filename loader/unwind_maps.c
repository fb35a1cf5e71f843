// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the executable mappings of processes and publishes them. */
#include "loader/unwind_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "symbolizer/proc_maps.h"

/* Where return probes return to: a walk must see that this is not the caller's code. */
#define RETURN_PROBES "[uprobes]"

/*
 * How long files of one process may hold us up and give no table, in all: whoever makes such
 * files shall not keep memleak from its other work. One of them leaves enough for all others.
 */
#define PATIENCE_MS (2 * UNWINDER_WAIT_MS)

struct unwind_space_copy {
	pid_t pid;
	uint32_t image;
	uint32_t generation;
	int64_t patience_ms;
	bool told_slow;
	bool told_many;
	struct unwind_mapping *mappings;
	size_t cnt;
};

/* A list being made. */
struct mapping_list {
	struct unwind_mapping *items;
	ssize_t *files; /* of each; negative: none */
	size_t cnt;
};

int unwind_maps_init(struct unwind_maps *maps, int arenas_fd, int spaces_fd, bool tables)
{
	*maps = (struct unwind_maps){.spaces_fd = spaces_fd};
	return unwind_files_init(&maps->files, arenas_fd, tables);
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	for (size_t i = 0; i < maps->space_cnt; i++)
		free(maps->spaces[i].mappings);
	free(maps->spaces);
	unwind_files_deinit(&maps->files);
	*maps = (struct unwind_maps){0};
}

/* A mapping that is gone meanwhile, or of a device, is no loss. */
static bool is_loss(int err)
{
	return err != -ENOENT && err != -ESRCH && err != -ENOEXEC;
}

static ssize_t find_file(struct unwind_maps *maps, struct unwind_space_copy *space,
			 const struct mapping *mapping)
{
	cleanup_close int fd = -1;
	ssize_t file;

	if (!strcmp(mapping->path, "[vdso]"))
		return unwind_files_add_vdso(&maps->files);
	if (!mapping->inode)
		return -ENOENT;
	fd = process_open_mapping(space->pid, mapping);
	if (fd < 0)
		return is_loss(fd) ? unwind_files_add_unreadable(&maps->files, mapping, fd) : fd;
	file = unwind_files_add(&maps->files, fd, mapping->path, &space->patience_ms);
	if (file == -ETIMEDOUT && !space->told_slow) {
		log_note("files of process %d have taken too long to read: those that come now "
			 "have no unwind tables",
			 space->pid);
		space->told_slow = true;
	}
	return file;
}

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a && a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

/* Code without a table may be in any number of pieces, which are one as long as they touch. */
static bool joins(const struct mapping_list *list, const struct mapping *mapping, ssize_t file)
{
	return list->cnt && file < 0 && list->files[list->cnt - 1] < 0 &&
	       list->items[list->cnt - 1].end == mapping->start;
}

/* Not the kernel's half, where [vsyscall] is: nobody allocates there. */
static bool is_code(const struct mapping *mapping)
{
	return mapping->executable && mapping->end <= INT64_MAX &&
	       strcmp(mapping->path, RETURN_PROBES) != 0;
}

static int list_mappings(struct unwind_maps *maps, struct unwind_space_copy *space,
			 const struct proc_maps *proc, struct mapping_list *list)
{
	const struct mapping *before = NULL;
	ssize_t file = -ENOENT;

	list->items = calloc(proc->cnt + 1, sizeof(*list->items));
	list->files = calloc(proc->cnt + 1, sizeof(*list->files));
	if (!list->items || !list->files)
		return -ENOMEM;
	for_each_mapping (mapping, proc) {
		if (!is_code(mapping))
			continue;
		/* Pieces of one file follow each other; opening each would cost the most. */
		if (!same_file(before, mapping))
			file = find_file(maps, space, mapping);
		before = mapping;
		if (joins(list, mapping, file)) {
			list->items[list->cnt - 1].end = mapping->end;
			continue;
		}
		list->items[list->cnt].start = mapping->start;
		list->items[list->cnt].end = mapping->end;
		/* Of the file's beginning, until its table is known. */
		list->items[list->cnt].base = mapping->start - mapping->offset;
		list->files[list->cnt++] = file;
	}
	return 0;
}

static void add_tables(const struct unwind_files *files, struct mapping_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		struct unwind_mapping *mapping = &list->items[i];
		const struct unwind_file *file;

		if (list->files[i] < 0)
			continue;
		file = &files->items[list->files[i]];
		mapping->base += file->first;
		mapping->granule_cnt = file->granule_cnt;
		mapping->index = file->index;
		mapping->arena = file->arena;
		mapping->page = file->page;
	}
}

/*
 * There may be too many. Those without a table go first, from the highest on; stacks through what
 * is gone are cut, and counted.
 */
static void drop_mappings(struct unwind_space_copy *space, struct mapping_list *list)
{
	size_t with = 0, without_max, kept = 0, without = 0, cnt = list->cnt;

	if (cnt <= UNWIND_MAPPINGS_MAX)
		return;
	for (size_t i = 0; i < cnt; i++)
		with += list->items[i].granule_cnt != 0;
	without_max = with < UNWIND_MAPPINGS_MAX ? UNWIND_MAPPINGS_MAX - with : 0;
	for (size_t i = 0; i < cnt && kept < UNWIND_MAPPINGS_MAX; i++)
		if (list->items[i].granule_cnt || without++ < without_max)
			list->items[kept++] = list->items[i];
	list->cnt = kept;
	if (!space->told_many)
		log_note("process %d has code in %zu places, of which %u are known: stacks "
			 "through the others may be cut",
			 space->pid, cnt, UNWIND_MAPPINGS_MAX);
	space->told_many = true;
}

static struct unwind_space_copy *space_of(struct unwind_maps *maps, pid_t pid)
{
	struct unwind_space_copy *grown;

	for (size_t i = 0; i < maps->space_cnt; i++)
		if (maps->spaces[i].pid == pid)
			return &maps->spaces[i];
	grown = reallocarray(maps->spaces, maps->space_cnt + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	maps->spaces = grown;
	grown[maps->space_cnt] = (struct unwind_space_copy){
		.pid = pid,
		.patience_ms = PATIENCE_MS,
	};
	return &grown[maps->space_cnt++];
}

/* A new array, complete before the programs can see it. */
static int publish(struct unwind_maps *maps, pid_t pid, uint32_t image,
		   const struct mapping_list *list)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	uint32_t cnt = (uint32_t)list->cnt + 1, key = (uint32_t)pid;
	cleanup_free union unwind_space_entry *entries = calloc(cnt, sizeof(*entries));
	cleanup_free uint32_t *keys = calloc(cnt, sizeof(*keys));
	cleanup_close int fd = -1;

	if (!entries || !keys)
		return -ENOMEM;
	/* Caches are keyed by it: 0 is none. */
	if (!++maps->generation)
		maps->generation = 1;
	entries[0].space = (struct unwind_space){image, maps->generation, (uint32_t)list->cnt};
	for (uint32_t i = 1; i < cnt; i++) {
		keys[i] = i;
		entries[i].mapping = list->items[i - 1];
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_space", sizeof(uint32_t), sizeof(*entries),
			    cnt, &opts);
	if (fd < 0 || bpf_map_update_batch(fd, keys, entries, &cnt, NULL) ||
	    bpf_map_update_elem(maps->spaces_fd, &key, &fd, BPF_ANY))
		return -errno;
	return 0;
}

/* Only a change is worth telling: the programs' caches start anew, and the kernel waits. */
static int publish_change(struct unwind_maps *maps, struct unwind_space_copy *space, uint32_t image,
			  struct mapping_list *list)
{
	int err;

	if (space->image == image && space->cnt == list->cnt &&
	    !memcmp(space->mappings, list->items, list->cnt * sizeof(*list->items)))
		return 0;
	err = publish(maps, space->pid, image, list);
	if (err)
		return err;
	free(space->mappings);
	space->mappings = list->items;
	list->items = NULL;
	space->cnt = list->cnt;
	space->image = image;
	space->generation = maps->generation;
	return 0;
}

static void say_size(const struct unwind_maps *maps, pid_t pid)
{
	const struct unwind_files *files = &maps->files;

	log_verbose("unwind tables: %zu files with %" PRIu64 " KB of code, %" PRIu64
		    " rows, %" PRIu64 " KB, built in %" PRIu64
		    " ms; %zu files share (last for process %d)",
		    files->table_cnt, files->code_bytes / 1024, files->rows, files->bytes / 1024,
		    files->build_ns / 1000000, files->shared_cnt, pid);
}

static int refresh(struct unwind_maps *maps, pid_t pid, uint32_t image,
		   const struct proc_maps *proc, struct mapping_list *list)
{
	struct unwind_space_copy *space = space_of(maps, pid);
	int err = space ? list_mappings(maps, space, proc, list) : -ENOMEM;

	unwind_files_place(&maps->files);
	if (err || !list->cnt)
		return err;
	add_tables(&maps->files, list);
	drop_mappings(space, list);
	return publish_change(maps, space, image, list);
}

void unwind_maps_refresh(struct unwind_maps *maps, pid_t pid, uint32_t image)
{
	uint32_t arena_cnt = maps->files.arena_cnt;
	struct mapping_list list = {0};
	struct proc_maps proc;
	int err;

	if (proc_maps_read(pid, &proc))
		return;
	err = refresh(maps, pid, image, &proc, &list);
	proc_maps_deinit(&proc);
	if (err)
		log_note("stacks of process %d may be cut: cannot tell where its code is (%s)", pid,
			 strerror(-err));
	if (maps->files.arena_cnt != arena_cnt)
		say_size(maps, pid);
	free(list.items);
	free(list.files);
}

uint32_t unwind_maps_generation(const struct unwind_maps *maps, pid_t pid)
{
	for (size_t i = 0; i < maps->space_cnt; i++)
		if (maps->spaces[i].pid == pid)
			return maps->spaces[i].generation;
	return 0;
}
