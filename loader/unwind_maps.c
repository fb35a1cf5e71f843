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
#include "loader/mapping_list.h"
#include "loader/modules.h"
#include "symbolizer/mapped_file.h"
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
	uint32_t generation;
	struct unwind_subject told;
	int64_t patience_ms;
	bool told_slow;
	bool told_many;
	struct mapping_list list;
};

int unwind_maps_init(struct unwind_maps *maps, const struct unwind_maps_fds *fds,
		     struct symbolizer *symbolizer, bool tables)
{
	int err;

	*maps = (struct unwind_maps){
		.spaces_fd = fds->spaces,
		.targets_fd = fds->targets,
		.stamp = fds->stamp,
	};
	err = publisher__new(&maps->publisher);
	if (err)
		return err;
	return unwind_files_init(&maps->files, fds->arenas, maps->publisher, symbolizer, tables);
}

void unwind_maps_deinit(struct unwind_maps *maps)
{
	for (size_t i = 0; i < maps->space_cnt; i++)
		mapping_list_deinit(&maps->spaces[i].list);
	free(maps->spaces);
	code_history_deinit(&maps->history);
	unwind_files_deinit(&maps->files);
	publisher__free(maps->publisher);
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
	struct stat st;
	ssize_t file;

	if (!strcmp(mapping->path, "[vdso]"))
		return unwind_files_add_vdso(&maps->files);
	if (!mapping->inode)
		return -ENOENT;
	fd = process_open_mapping(space->pid, mapping);
	/* The kernel told it, and the process may have ended. */
	if (fd < 0 && mapping->since_ns)
		fd = mapped_file_open(mapping, &st);
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

static bool same_subject(const struct unwind_subject *a, const struct unwind_subject *b)
{
	return a->image == b->image && a->unloads == b->unloads && a->r_debug == b->r_debug;
}

/*
 * The file of a mapping that has been there since the last time. It stays what it was, though its
 * time may have changed since; and need not be opened.
 */
static ssize_t known_file(const struct unwind_space_copy *space,
			  const struct unwind_subject *subject, const struct mapping *mapping)
{
	if (!mapping->inode || !same_subject(&space->told, subject))
		return -ENOENT;
	return mapping_list_file(&space->list, mapping);
}

/* Not the kernel's half, where [vsyscall] is: nobody allocates there. */
static bool is_code(const struct mapping *mapping)
{
	return mapping->executable && mapping->end <= INT64_MAX &&
	       strcmp(mapping->path, RETURN_PROBES) != 0;
}

static int list_mappings(struct unwind_maps *maps, struct unwind_space_copy *space,
			 const struct unwind_subject *subject, const struct proc_maps *proc,
			 struct mapping_list *list)
{
	const struct mapping *before = NULL;
	ssize_t file = -ENOENT, known = -ENOENT;
	int err = mapping_list_init(list, proc->cnt);

	if (err)
		return err;
	for_each_mapping (mapping, proc) {
		if (!is_code(mapping))
			continue;
		known = known_file(space, subject, mapping);
		if (known >= 0)
			file = known;
		/* Pieces of one file follow each other; opening each would cost the most. */
		else if (!same_file(before, mapping))
			file = find_file(maps, space, mapping);
		before = mapping;
		mapping_list_add(list, mapping, file);
	}
	return 0;
}

/* What makes an address there a place in the file; 0: it stays an address. */
static uint64_t frame_distance(const struct unwind_mapping *mapping, size_t number)
{
	uint64_t offset_end = mapping->end - mapping->base;

	if (mapping->start < mapping->base || offset_end >> MEMLEAK_FRAME_OFFSET_BITS)
		return 0;
	return (MEMLEAK_FRAME_FILE | (uint64_t)number << MEMLEAK_FRAME_OFFSET_BITS) - mapping->base;
}

static bool is_permanent(const struct unwind_subject *subject, const struct unwind_file *file)
{
	for (size_t i = 0; i < subject->permanent_cnt; i++)
		if (subject->permanent[i].dev == file->dev &&
		    subject->permanent[i].ino == file->ino)
			return true;
	return false;
}

static void add_tables(const struct unwind_files *files, const struct unwind_subject *subject,
		       struct mapping_list *list)
{
	for (size_t i = 0; i < list->cnt; i++) {
		struct unwind_mapping *mapping = &list->items[i];
		const struct unwind_file *file;

		if (list->sources[i].file < 0)
			continue;
		file = &files->items[list->sources[i].file];
		mapping->permanent = is_permanent(subject, file);
		if (file->symbols)
			mapping->to_frame = frame_distance(mapping, (size_t)list->sources[i].file);
		mapping->base += file->first;
		mapping->granule_cnt = file->granule_cnt;
		mapping->index = file->index;
		mapping->arena = file->arena;
		mapping->page = file->page;
	}
}

/* There may be too many: stacks through what is gone are cut, and counted. */
static void drop_mappings(struct unwind_space_copy *space, struct mapping_list *list)
{
	size_t cnt = list->cnt;

	mapping_list_limit(list, UNWIND_MAPPINGS_MAX);
	if (list->cnt == cnt || space->told_many)
		return;
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
static int publish(struct unwind_maps *maps, const struct unwind_subject *subject,
		   const struct mapping_list *list)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_INNER_MAP);
	uint32_t cnt = (uint32_t)list->cnt + 1;
	cleanup_free union unwind_space_entry *entries = calloc(cnt, sizeof(*entries));
	cleanup_free uint32_t *keys = calloc(cnt, sizeof(*keys));
	cleanup_close int fd = -1;
	int err;

	if (!entries || !keys)
		return -ENOMEM;
	/* Caches are keyed by it: 0 is none. */
	if (!++maps->generation)
		maps->generation = 1;
	entries[0].space = (struct unwind_space){
		.generation = maps->generation,
		.mapping_cnt = (uint32_t)list->cnt,
		.unloads = subject->unloads,
		.r_debug = subject->r_debug,
	};
	for (uint32_t i = 1; i < cnt; i++) {
		keys[i] = i;
		entries[i].mapping = list->items[i - 1];
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_space", sizeof(uint32_t), sizeof(*entries),
			    cnt, &opts);
	if (fd < 0 || bpf_map_update_batch(fd, keys, entries, &cnt, NULL))
		return -errno;
	err = publisher__put(maps->publisher, maps->spaces_fd, subject->image, fd);
	__atomic_add_fetch(maps->stamp, 1, __ATOMIC_RELEASE);
	return err;
}

/* Only a change is worth telling: the programs' caches start anew, and the kernel waits. */
static int publish_change(struct unwind_maps *maps, struct unwind_space_copy *space,
			  const struct unwind_subject *subject, struct mapping_list *list)
{
	int err;

	if (same_subject(&space->told, subject) && mapping_list_equal(&space->list, list))
		return 0;
	err = code_history_add(&maps->history, subject->image, subject->unloads, list->items,
			       list->cnt);
	if (!err)
		err = publish(maps, subject, list);
	if (err)
		return err;
	mapping_list_deinit(&space->list);
	space->list = *list;
	*list = (struct mapping_list){0};
	space->told = *subject;
	space->told.permanent = NULL; /* the caller's */
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

uint32_t unwind_maps_unloads(const struct unwind_maps *maps, pid_t pid)
{
	struct memleak_target target = {0};
	uint32_t key = (uint32_t)pid;

	bpf_map_lookup_elem(maps->targets_fd, &key, &target);
	return target.unloads;
}

static int refresh(struct unwind_maps *maps, const struct unwind_subject *subject,
		   const struct proc_maps *proc, struct mapping_list *list)
{
	struct unwind_space_copy *space = space_of(maps, subject->pid);
	int err = space ? list_mappings(maps, space, subject, proc, list) : -ENOMEM;

	unwind_files_place(&maps->files);
	if (err || !list->cnt)
		return err;
	/* Files were opened by address: they may have been others. */
	if (!subject->ended && unwind_maps_unloads(maps, subject->pid) != subject->unloads)
		return 0;
	add_tables(&maps->files, subject, list);
	drop_mappings(space, list);
	return publish_change(maps, space, subject, list);
}

void unwind_maps_refresh(struct unwind_maps *maps, const struct unwind_subject *subject,
			 const struct proc_maps *proc)
{
	size_t table_cnt = maps->files.table_cnt;
	struct mapping_list list = {0};
	int err = refresh(maps, subject, proc, &list);

	if (err)
		log_note("stacks of process %d may be cut: cannot tell where its code is (%s)",
			 subject->pid, strerror(-err));
	if (maps->files.table_cnt != table_cnt)
		say_size(maps, subject->pid);
	mapping_list_deinit(&list);
}

void unwind_maps_forget(struct unwind_maps *maps, pid_t pid)
{
	for (size_t i = 0; i < maps->space_cnt; i++) {
		if (maps->spaces[i].pid != pid)
			continue;
		mapping_list_deinit(&maps->spaces[i].list);
		maps->spaces[i] = maps->spaces[--maps->space_cnt];
		return;
	}
}

void unwind_maps_drop(struct unwind_maps *maps, uint32_t image)
{
	code_history_drop(&maps->history, image);
	publisher__remove(maps->publisher, maps->spaces_fd, image);
}

uint32_t unwind_maps_generation(const struct unwind_maps *maps, pid_t pid)
{
	for (size_t i = 0; i < maps->space_cnt; i++)
		if (maps->spaces[i].pid == pid)
			return maps->spaces[i].generation;
	return 0;
}
