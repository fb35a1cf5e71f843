// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the files that a dumped process had mapped. Compares their build ids with those in the core
 * file, to find out whether they have changed.
 */
#include "app/core_space.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "app/progress.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/regular_file.h"
#include "proof/core_build_id.h"

static int prepare(struct symbol_backend *self, const struct site *const *sites, size_t cnt,
		   uint64_t deadline_ns)
{
	return 0;
}

static struct core_space *space_of(struct symbol_backend *self)
{
	return (struct core_space *)((char *)self - offsetof(struct core_space, backend));
}

static const struct sym_location *lookup(struct symbol_backend *self, const struct site *site,
					 uint64_t frame)
{
	const struct core_sort *sort = core_sorts_of(space_of(self)->sorts, frame);

	return sort ? &sort->location : NULL;
}

static const struct sym_location *place(struct symbol_backend *self, const struct site *site,
					enum sym_kind kind, uint64_t addr, uint64_t deadline_ns)
{
	const struct sym_query query = {.addr = addr, .kind = kind};
	const struct sym_location *location;

	if (symspace__resolve(space_of(self)->space, &query, 1, deadline_ns, &location))
		return NULL;
	return location;
}

/*
 * Returns the mapping of the program's file that contains its entry point. If no file is mapped
 * there, returns the first mapping of any file, or NULL.
 */
static const struct mapping *program_of(const struct core_file *core)
{
	const struct mapping *mapping = proc_maps_find(&core->memory.maps, core->notes.entry);

	if (mapping && mapping->path[0] == '/')
		return mapping;
	for_each_mapping (m, &core->memory.maps)
		if (m->path[0] == '/')
			return m;
	return NULL;
}

static void set_path(struct proc_maps *maps, const char *from, const char *to)
{
	cleanup_free char *copy = strdup(from);

	for (size_t i = 0; copy && i < maps->cnt; i++)
		if (!strcmp(maps->mappings[i].path, copy)) {
			maps->mappings[i].path = to;
			maps->mappings[i].deleted = false;
		}
}

/*
 * Sets the device and inode numbers of mapped files, which a core file does not record, from the
 * files that have the same paths now.
 */
static void number_files(struct proc_maps *maps)
{
	const struct mapping *last = NULL;

	for (size_t i = 0; i < maps->cnt; i++) {
		struct mapping *mapping = &maps->mappings[i];
		struct stat st;
		int fd;

		if (mapping->path[0] != '/')
			continue;
		if (last && !strcmp(last->path, mapping->path)) {
			mapping->file = last->file;
			continue;
		}
		last = mapping;
		fd = regular_file_open(AT_FDCWD, -1, mapping->path, LINKS_ALL, &st);
		if (fd < 0)
			continue;
		mapping->file = file_id_of(&st);
		close(fd);
	}
}

static void forget_file(struct proc_maps *maps, const char *path)
{
	for (size_t i = 0; i < maps->cnt; i++)
		if (!strcmp(maps->mappings[i].path, path))
			maps->mappings[i].file = (struct file_id){0};
}

/*
 * Returns the first executable mapping of a file; NULL if there is none. `begin` is the file's
 * first mapping.
 */
static const struct mapping *code_of(const struct proc_maps *maps, const struct mapping *begin)
{
	for (const struct mapping *m = begin; m < maps->mappings + maps->cnt; m++) {
		if (strcmp(m->path, begin->path))
			return NULL;
		if (m->executable)
			return m;
	}
	return NULL;
}

/*
 * True if the file at the mapping's path is not the one that the process had mapped: the build ids
 * differ or, if a build id is missing, the core file marks the file as deleted.
 */
static bool is_another(const struct core_file *core, struct symspace *space,
		       const struct mapping *begin)
{
	const struct mapping *code = code_of(&core->memory.maps, begin);
	struct sym_query query = {.exact = true};
	const struct sym_location *location;
	char id[2 * CORE_BUILD_ID_MAX + 1];

	if (!begin->file.ino || !code)
		return false;
	query.addr = code->start;
	if (core_build_id(&core->memory, begin, id) ||
	    symspace__resolve(space, &query, 1, UINT64_MAX, &location) || !location->build_id)
		return begin->deleted;
	return strcmp(id, location->build_id);
}

static int check_files(struct core_file *core, struct symspace *space, size_t *ret)
{
	struct proc_maps *maps = &core->memory.maps;
	size_t cnt = 0;

	for_each_mapping (m, maps) {
		if (m->offset || m->path[0] != '/' || !is_another(core, space, m))
			continue;
		log_note("%s differs from the file that the process had mapped: its symbols are "
			 "not used",
			 m->path);
		forget_file(maps, m->path);
		cnt++;
	}
	*ret = cnt;
	return 0;
}

int core_space_init(struct core_file *core, const char *executable, struct core_space *ret)
{
	struct core_space space = {
		.backend = {.prepare = prepare, .lookup = lookup, .place = place}};
	struct proc_maps *maps = &core->memory.maps;
	const struct mapping *program = program_of(core);
	size_t others = 0;
	int err;

	if (executable && program)
		set_path(maps, program->path, executable);
	number_files(maps);
	err = symbolizer__new(&space.symbolizer);
	if (!err) {
		progress_show(space.symbolizer);
		err = symspace__new_ended(space.symbolizer, maps, &space.space);
	}
	if (!err)
		err = check_files(core, space.space, &others);
	if (!err && others) {
		symspace__free(space.space);
		space.space = NULL;
		err = symspace__new_ended(space.symbolizer, maps, &space.space);
	}
	if (err) {
		core_space_deinit(&space);
		return err;
	}
	*ret = space;
	return 0;
}

void core_space_deinit(struct core_space *space)
{
	symspace__free(space->space);
	symbolizer__free(space->symbolizer);
	*space = (struct core_space){0};
}
