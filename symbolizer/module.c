// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores the names that were found in a file, and the file's descriptors. */
#include "symbolizer/module.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

int module__new(int fd, const struct file_version *version, const char *path, struct module **ret)
{
	struct module *module = calloc(1, sizeof(*module));

	if (!module)
		return -ENOMEM;
	*module = (struct module){
		.version = *version,
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

void module__close(struct module *module)
{
	int *const fds[] = {&module->fd, &module->debug_fd, &module->alternate_fd};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++) {
		close_file(*fds[i]);
		*fds[i] = -1;
	}
	module->closed = true;
	module->incarnation = 0;
}

void module__free(struct module *module)
{
	if (!module)
		return;
	close_file(module->fd);
	/* Close each file only once: offered_fd may be equal to debug_fd or alternate_fd. */
	if (module->offered_fd != module->debug_fd && module->offered_fd != module->alternate_fd)
		close_file(module->offered_fd);
	close_file(module->fetched_fd);
	close_file(module->debug_fd);
	close_file(module->alternate_fd);
	hash_map_free_all(&module->names[false]);
	hash_map_free_all(&module->names[true]);
	for (size_t i = 0; i < NAME_KIND_CNT; i++)
		hash_map_free_all(&module->variables[i]);
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

static int find_or_add(struct hash_map *names, const struct name *empty, struct name **ret)
{
	struct name *name = hash_map_get(names, empty->offset);

	if (!name) {
		name = malloc(sizeof(*name));
		if (!name)
			return -ENOMEM;
		*name = *empty;
		if (hash_map_set(names, empty->offset, name)) {
			free(name);
			return -ENOMEM;
		}
	}
	*ret = name;
	return 0;
}

int module__name(struct module *module, uint64_t offset, bool exact, struct name **ret)
{
	const struct name empty = {.offset = offset, .exact = exact};

	return find_or_add(&module->names[exact], &empty, ret);
}

int module__variable(struct module *module, enum name_kind kind, uint64_t offset, uint64_t anchor,
		     struct name **ret)
{
	const struct name empty = {.kind = kind, .offset = offset, .anchor = anchor, .exact = true};

	return find_or_add(&module->variables[kind], &empty, ret);
}

int module__want(struct module *module, struct name *name)
{
	if (name->listed)
		return 0;
	if (array_reserve(&module->todo, &module->todo_cap, module->todo_cnt + 1))
		return -ENOMEM;
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
	/* Keep the memory of former frames: locations returned to callers point into it. */
	if (array_reserve(&module->blocks, &module->block_cap, module->block_cnt + 1))
		return -ENOMEM;
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
