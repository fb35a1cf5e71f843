// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the code mappings of processes and passes the lists to the BPF programs. */
#include "loader/stacks/unwind_spaces.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/mapped_file.h"
#include "base/proc.h"
#include "base/proc_maps.h"
#include "loader/stacks/mapping_list.h"
#include "loader/target/modules.h"

/*
 * Name of the mapping to which probed functions return. It is not code of the program, so stack
 * walks must not see it.
 */
#define RETURN_PROBES "[uprobes]"

struct published_space {
	pid_t pid;
	uint32_t generation;
	struct unwind_subject published;
	uid_t uid;
	bool unfinished; /* true if the deadline passed before all files were read */
	bool logged_many;
	bool scripts; /* true if the process runs an interpreter whose script frames are read */
	struct mapping_list list;
};

int unwind_spaces_init(struct unwind_spaces *spaces, const struct unwind_spaces_fds *fds,
		       struct symbolizer *symbolizer, bool tables)
{
	int err;

	*spaces = (struct unwind_spaces){
		.spaces_fd = fds->spaces,
		.targets_fd = fds->targets,
		.stamp = fds->stamp,
		.scripts.interpreters_fd = fds->interpreters,
	};
	err = map_updater__new(&spaces->map_updater);
	if (err)
		return err;
	return unwind_files_init(&spaces->files, fds->arenas, fds->files, spaces->map_updater,
				 symbolizer, tables);
}

void unwind_spaces_deinit(struct unwind_spaces *spaces)
{
	for (size_t i = 0; i < spaces->cnt; i++)
		mapping_list_deinit(&spaces->items[i].list);
	free(spaces->items);
	code_history_deinit(&spaces->history);
	scripts_deinit(&spaces->scripts);
	unwind_files_deinit(&spaces->files);
	map_updater__free(spaces->map_updater);
	*spaces = (struct unwind_spaces){0};
}

/*
 * True if opening a mapping's file failed with an error that may cut stacks. False if the mapping
 * is gone or belongs to a device, or if opening is to be tried again.
 */
static bool is_loss(int err)
{
	return err != -ENOENT && err != -ESRCH && err != -ENOEXEC && err != -EAGAIN;
}

static ssize_t find_file(struct unwind_spaces *spaces, struct published_space *space,
			 const struct mapping *mapping, uint64_t deadline_ns)
{
	cleanup_close int fd = -1;
	struct stat st;
	ssize_t file;

	if (!strcmp(mapping->path, "[vdso]"))
		return unwind_files_add_vdso(&spaces->files, deadline_ns);
	if (!mapping->file.ino)
		return -ENOENT;
	/*
	 * since_ns is set if the mapping is from a kernel record. The process has then probably
	 * ended: try the file's path before /proc.
	 */
	fd = mapping->since_ns ? mapped_file_open(mapping, &st) : -ENOENT;
	if (fd < 0)
		fd = process_open_mapping(space->pid, mapping);
	if (fd < 0)
		return is_loss(fd) ? unwind_files_add_unreadable(&spaces->files, mapping, fd) : fd;
	file = unwind_files_add(&spaces->files, fd, mapping->path, space->uid, deadline_ns);
	if (file == -ETIMEDOUT &&
	    user_budgets_should_log(&spaces->files.budgets, space->uid, BUDGET_TABLES))
		log_note("reading the files of user %u's processes takes too long: new files get "
			 "no unwind tables for some minutes",
			 space->uid);
	return file;
}

static bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a && a->file.ino && file_id_equal(&a->file, &b->file);
}

static bool same_subject(const struct unwind_subject *a, const struct unwind_subject *b)
{
	return a->image == b->image && a->unloads == b->unloads && a->r_debug == b->r_debug;
}

/*
 * Returns the index of a mapping's file if it is known without opening the file: if the last
 * published list contains the mapping and is still valid, or if the symbolizer has opened it; else
 * -ENOENT. A file in the published list may have been modified since, but is still the same.
 */
static ssize_t known_file(const struct unwind_spaces *spaces, const struct published_space *space,
			  const struct unwind_subject *subject, const struct mapping *mapping)
{
	ssize_t file = -ENOENT;
	uint32_t number;

	if (!mapping->file.ino)
		return -ENOENT;
	if (space->published.image == subject->image &&
	    space->published.unloads == subject->unloads)
		file = mapping_list_file(&space->list, mapping);
	if (file >= 0)
		return file;
	number = symspace__file(subject->space, mapping->start);
	return number ? unwind_files_find(&spaces->files, number) : -ENOENT;
}

/*
 * True if the mapping has code of the program. Excludes [vsyscall], which is in the kernel's half
 * of the address space and never allocates.
 */
static bool is_code(const struct mapping *mapping)
{
	return mapping->executable && mapping->end <= INT64_MAX &&
	       strcmp(mapping->path, RETURN_PROBES) != 0;
}

/* Minimum size, in bytes, of the code of a program that contains CPython. */
#define INTERPRETER_BYTES (1U << 20)

/*
 * True if a mapping may be code of a Python interpreter. is_program: the mapping is the process's
 * first one with code, which is that of its executable.
 */
static bool may_run_scripts(const struct mapping *mapping, bool is_program)
{
	return scripts_may_run(mapping->path) ||
	       (is_program && mapping->end - mapping->start >= INTERPRETER_BYTES);
}

static int list_mappings(struct unwind_spaces *spaces, struct published_space *space,
			 const struct unwind_subject *subject, const struct proc_maps *proc,
			 struct mapping_list *list)
{
	const struct mapping *before = NULL;
	ssize_t file = -ENOENT, known = -ENOENT;
	int err = mapping_list_init(list, proc->cnt);

	if (err)
		return err;
	space->unfinished = false;
	space->scripts = false;
	for_each_mapping (mapping, proc) {
		bool is_program = !before;

		if (!is_code(mapping))
			continue;
		known = known_file(spaces, space, subject, mapping);
		if (known >= 0)
			file = known;
		/*
		 * Adjacent mappings often map the same file. Open it only once, since opening takes
		 * most of the time.
		 */
		else if (!same_file(before, mapping))
			file = find_file(spaces, space, mapping, subject->deadline_ns);
		space->unfinished |= file == -EAGAIN;
		before = mapping;
		if (file >= 0 && !space->scripts && may_run_scripts(mapping, is_program)) {
			space->scripts =
				scripts_add(&spaces->scripts, space->pid, subject->image, proc,
					    mapping, (size_t)file, subject->deadline_ns);
			space->unfinished |= scripts_is_pending(&spaces->scripts, (size_t)file);
		}
		mapping_list_add(list, mapping, file);
	}
	return 0;
}

/*
 * Returns the difference between an encoded frame (file and offset) and its address in the mapping;
 * 0 if frames in the mapping stay addresses.
 */
static uint64_t frame_distance(const struct unwind_mapping *mapping, size_t number)
{
	uint64_t offset_end = mapping->end - mapping->base;

	if (mapping->start < mapping->base || offset_end >> MEMLEAK_FRAME_OFFSET_BITS)
		return 0;
	return unwind_file_frame(number) - mapping->base;
}

static bool is_permanent(const struct unwind_subject *subject, const struct unwind_file *file)
{
	for (size_t i = 0; i < subject->permanent_cnt; i++)
		if (file_id_equal(&subject->permanent[i], &file->version.id))
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

/*
 * Drops mappings beyond the maximum for the BPF programs. Stacks that contain code of dropped
 * mappings are cut, and the cuts are counted.
 */
static void drop_mappings(struct published_space *space, struct mapping_list *list)
{
	size_t cnt = list->cnt;

	mapping_list_limit(list, UNWIND_MAPPINGS_MAX);
	if (list->cnt == cnt || space->logged_many)
		return;
	log_note("process %d has %zu mappings with code, of which only %u are used: stacks through "
		 "the others may be cut",
		 space->pid, cnt, UNWIND_MAPPINGS_MAX);
	space->logged_many = true;
}

/* Returns the user of the process; -1 if the process has ended. */
static uid_t uid_of(pid_t pid)
{
	cleanup_free char *status = NULL;

	return proc_read(pid, "status", &status) ? (uid_t)-1
						 : (uid_t)proc_status_number(status, "Uid");
}

static struct published_space *space_of(struct unwind_spaces *spaces, pid_t pid)
{
	for (size_t i = 0; i < spaces->cnt; i++)
		if (spaces->items[i].pid == pid)
			return &spaces->items[i];
	if (array_reserve(&spaces->items, &spaces->cap, spaces->cnt + 1))
		return NULL;
	spaces->items[spaces->cnt] = (struct published_space){
		.pid = pid,
		.uid = uid_of(pid),
	};
	return &spaces->items[spaces->cnt++];
}

/*
 * Passes the list to the BPF programs as a new array. The array is filled before BPF programs can
 * see it.
 */
static int publish(struct unwind_spaces *spaces, const struct unwind_subject *subject, bool scripts,
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
	entries[0].space = (struct unwind_space){
		.generation = spaces->generation,
		.mapping_cnt = (uint32_t)list->cnt,
		.unloads = subject->unloads,
		.r_debug = subject->r_debug,
		.interpreter = scripts,
	};
	for (uint32_t i = 1; i < cnt; i++) {
		keys[i] = i;
		entries[i].mapping = list->items[i - 1];
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_space", sizeof(uint32_t), sizeof(*entries),
			    cnt, &opts);
	if (fd < 0 || bpf_map_update_batch(fd, keys, entries, &cnt, NULL))
		return -errno;
	err = map_updater__put(spaces->map_updater, spaces->spaces_fd, subject->image, fd);
	__atomic_add_fetch(spaces->stamp, 1, __ATOMIC_RELEASE);
	return err;
}

/*
 * Passes the list to the BPF programs if it has changed. An unchanged list would empty their
 * caches. The list of an ended process is only added to the history, since its stacks are no longer
 * walked.
 */
static int publish_change(struct unwind_spaces *spaces, struct published_space *space,
			  const struct unwind_subject *subject, struct mapping_list *list)
{
	int err;

	if (same_subject(&space->published, subject) && mapping_list_equal(&space->list, list))
		return 0;
	err = code_history_add(&spaces->history, subject->image, subject->unloads, list->items,
			       list->cnt);
	/* Skip generation 0, which means "none" in the caches of the BPF programs. */
	if (!++spaces->generation)
		spaces->generation = 1;
	if (!err && !subject->ended)
		err = publish(spaces, subject, space->scripts, list);
	if (err)
		return err;
	mapping_list_deinit(&space->list);
	space->list = *list;
	*list = (struct mapping_list){0};
	space->published = *subject;
	/* The caller owns `permanent` and `space`: do not keep them. */
	space->published.permanent = NULL;
	space->published.space = NULL;
	space->generation = spaces->generation;
	return 0;
}

static void say_size(const struct unwind_spaces *spaces, pid_t pid)
{
	const struct unwind_files *files = &spaces->files;

	log_verbose("unwind tables: %zu files with %" PRIu64 " KB of code, %" PRIu64
		    " rows, %" PRIu64 " KB, built in %" PRIu64
		    " ms; %zu files share tables of others (last built for process %d)",
		    files->table_cnt, files->code_bytes / 1024, files->rows, files->bytes / 1024,
		    files->build_ns / 1000000, files->shared_cnt, pid);
}

uint32_t unwind_spaces_unloads(const struct unwind_spaces *spaces, pid_t pid)
{
	struct memleak_target target = {0};
	uint32_t key = (uint32_t)pid;

	bpf_map_lookup_elem(spaces->targets_fd, &key, &target);
	return target.unloads;
}

static int refresh(struct unwind_spaces *spaces, const struct unwind_subject *subject,
		   const struct proc_maps *proc, struct mapping_list *list, bool *finished)
{
	struct published_space *space = space_of(spaces, subject->pid);
	int err = space ? list_mappings(spaces, space, subject, proc, list) : -ENOMEM;

	unwind_files_place(&spaces->files);
	*finished = !space || !space->unfinished;
	if (err || !list->cnt)
		return err;
	/*
	 * The files were opened by the addresses of mappings. If code was unloaded since the
	 * mappings were read, wrong files may have been opened.
	 */
	if (!subject->ended && unwind_spaces_unloads(spaces, subject->pid) != subject->unloads)
		return 0;
	add_tables(&spaces->files, subject, list);
	drop_mappings(space, list);
	return publish_change(spaces, space, subject, list);
}

bool unwind_spaces_refresh(struct unwind_spaces *spaces, const struct unwind_subject *subject,
			   const struct proc_maps *proc)
{
	size_t table_cnt = spaces->files.table_cnt;
	struct mapping_list list = {0};
	bool finished = true;
	int err = refresh(spaces, subject, proc, &list, &finished);

	if (err)
		log_note("stacks of process %d may be cut: cannot publish its code mappings (%s)",
			 subject->pid, strerror(-err));
	if (spaces->files.table_cnt != table_cnt)
		say_size(spaces, subject->pid);
	mapping_list_deinit(&list);
	return finished;
}

void unwind_spaces_forget(struct unwind_spaces *spaces, pid_t pid)
{
	for (size_t i = 0; i < spaces->cnt; i++) {
		if (spaces->items[i].pid != pid)
			continue;
		mapping_list_deinit(&spaces->items[i].list);
		spaces->items[i] = spaces->items[--spaces->cnt];
		return;
	}
}

void unwind_spaces_drop(struct unwind_spaces *spaces, uint32_t image)
{
	code_history_drop(&spaces->history, image);
	scripts_drop(&spaces->scripts, image);
	map_updater__remove(spaces->map_updater, spaces->spaces_fd, image);
}

uint32_t unwind_spaces_generation(const struct unwind_spaces *spaces, pid_t pid)
{
	for (size_t i = 0; i < spaces->cnt; i++)
		if (spaces->items[i].pid == pid)
			return spaces->items[i].generation;
	return 0;
}

uid_t unwind_spaces_uid(const struct unwind_spaces *spaces, pid_t pid)
{
	for (size_t i = 0; i < spaces->cnt; i++)
		if (spaces->items[i].pid == pid)
			return spaces->items[i].uid;
	return (uid_t)-1;
}
