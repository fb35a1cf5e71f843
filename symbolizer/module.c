// SPDX-License-Identifier: GPL-2.0-or-later
/* Modules and their names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/module.h"

int module__new(int fd, const struct stat *st, const char *path, struct module **ret)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return -ENOMEM;
	*module = (struct module){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime = st->st_mtim,
		.fd = -1,
		.path = strdup(path),
		.is_elf = true,
		.max_level = NAME_FULL,
		.offered_fd = -1,
		.fetched_fd = -1,
		.debug_fd = -1,
		.alternate_fd = -1,
	};
	if (!module->path) {
		module__free(module);
		return -ENOMEM;
	}
	module->fd = fd;
	*ret = module;
	return 0;
}

static void close_file(int fd)
{
	if (fd >= 0)
		close(fd);
}

void module__free(struct module *module)
{
	if (!module)
		return;
	close_file(module->fd);
	/* One that is offered again is still the module's own. */
	if (module->offered_fd != module->debug_fd && module->offered_fd != module->alternate_fd)
		close_file(module->offered_fd);
	close_file(module->fetched_fd);
	close_file(module->debug_fd);
	close_file(module->alternate_fd);
	for (size_t i = 0; i < module->names.cap; i++)
		free(module->names.slots[i].value);
	addr_map_deinit(&module->names);
	for (size_t i = 0; i < module->block_cnt; i++)
		free(module->blocks[i]);
	file_need_deinit(&module->need);
	for (size_t i = 0; i < module->anchor_cnt; i++)
		free(module->anchors[i].name);
	for (size_t i = 0; i < module->place_cnt; i++)
		free(module->places[i]);
	free(module->anchors);
	free(module->places);
	free(module->blocks);
	free(module->todo);
	free(module->offered_path);
	free(module->debug_path);
	free(module->build_id);
	free(module->path);
	free(module);
}

bool module__is(const struct module *module, const struct stat *st)
{
	return module->dev == st->st_dev && module->ino == st->st_ino &&
	       module->size == st->st_size && module->mtime.tv_sec == st->st_mtim.tv_sec &&
	       module->mtime.tv_nsec == st->st_mtim.tv_nsec;
}

int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret)
{
	struct name *name = addr_map_get(&module->names, offset, exact);
	int err;

	if (!name) {
		name = calloc(1, sizeof(*name));
		if (!name)
			return -ENOMEM;
		name->offset = offset;
		name->exact = exact;
		err = addr_map_set(&module->names, offset, exact, name);
		if (err) {
			free(name);
			return err;
		}
	}
	*ret = name;
	return 0;
}

int module__want(struct module *module, struct name *name)
{
	if (name->listed)
		return 0;
	if (module->todo_cnt == module->todo_cap) {
		size_t cap = module->todo_cap ? module->todo_cap * 2 : 64;
		struct name **todo = reallocarray(module->todo, cap, sizeof(*todo));

		if (!todo)
			return -ENOMEM;
		module->todo = todo;
		module->todo_cap = cap;
	}
	module->todo[module->todo_cnt++] = name;
	name->listed = true;
	return 0;
}

void module__want_nothing(struct module *module)
{
	for (size_t i = 0; i < module->todo_cnt; i++)
		module->todo[i]->listed = false;
	module->todo_cnt = 0;
}

int module__set_frames(struct module *module, struct name *name, struct sym_frame *block,
		       size_t frame_cnt)
{
	/* Older blocks stay: locations that were given out point to them. */
	if (!(module->block_cnt & (module->block_cnt - 1))) {
		size_t cap = module->block_cnt ? module->block_cnt * 2 : 1;
		void **blocks = reallocarray(module->blocks, cap, sizeof(*blocks));

		if (!blocks)
			return -ENOMEM;
		module->blocks = blocks;
	}
	module->blocks[module->block_cnt++] = block;
	name->frames = block;
	name->frame_cnt = frame_cnt;
	return 0;
}

void file_need_deinit(struct file_need *need)
{
	free(need->build_id);
	free(need->file);
	*need = (struct file_need){.kind = NEED_NOTHING};
}
