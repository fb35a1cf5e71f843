// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends what processes have mapped as code to libdwfl's helper. */
#include "loader/reference_spaces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader/cleanup.h"
#include "loader/log.h"
#include "loader/modules.h"
#include "loader/vdso.h"
#include "symbolizer/mapped_file.h"

/* What a process had mapped lately is kept: copies of its stacks may be on their way. */
#define OLD_SPACES 4

void reference_spaces_deinit(struct reference_spaces *spaces)
{
	reference__free(spaces->reference);
	for (size_t i = 0; i < spaces->cnt; i++)
		proc_maps_deinit(&spaces->items[i].maps);
	free(spaces->items);
	*spaces = (struct reference_spaces){0};
}

static int fail(struct reference_spaces *spaces, int err)
{
	if (!spaces->err)
		log_note("stacks are not walked by libdwfl any more: its helper failed (%s)",
			 strerror(-err));
	spaces->err = err;
	return err;
}

const struct reference_code_space *reference_spaces_find(const struct reference_spaces *spaces,
							 uint32_t generation)
{
	for (size_t i = spaces->cnt; i; i--)
		if (spaces->items[i - 1].generation == generation)
			return &spaces->items[i - 1];
	return NULL;
}

/* Where the beginning of the same file is mapped, next below. */
static uint64_t find_headers(const struct proc_maps *maps, const struct mapping *code)
{
	for (const struct mapping *m = code; m >= maps->mappings; m--)
		if (!m->offset && m->inode == code->inode && m->dev_major == code->dev_major &&
		    m->dev_minor == code->dev_minor)
			return m->start;
	return 0;
}

static int send_mapping(struct reference_spaces *spaces, const struct reference_code_space *space,
			const struct mapping *mapping)
{
	struct reference_code code = {.start = mapping->start, .offset = mapping->offset};
	cleanup_close int fd = -1;
	struct stat st;

	if (!mapping->executable)
		return 0;
	if (!strcmp(mapping->path, "[vdso]")) {
		fd = vdso_copy();
	} else if (mapping->inode) {
		fd = process_open_mapping(space->pid, mapping);
		if (fd < 0)
			fd = mapped_file_open(mapping, &st);
		code.headers = find_headers(&space->maps, mapping);
	}
	if (fd < 0)
		return 0; /* code without a file */
	return reference__add_code(spaces->reference, space->generation, fd, &code);
}

/* All but the last few of a process. */
static void drop_old(struct reference_spaces *spaces, pid_t pid, size_t few)
{
	size_t kept = 0, cnt = 0;

	for (size_t i = 0; i < spaces->cnt; i++)
		cnt += spaces->items[i].pid == pid;
	for (size_t i = 0; i < spaces->cnt; i++) {
		struct reference_code_space *space = &spaces->items[i];

		if (space->pid == pid && cnt-- > few) {
			reference__close(spaces->reference, space->generation);
			proc_maps_deinit(&space->maps);
		} else {
			spaces->items[kept++] = *space;
		}
	}
	spaces->cnt = kept;
}

static int add_space(struct reference_spaces *spaces, const struct reference_subject *subject)
{
	uint32_t generation = subject->generation;
	struct reference_code_space *grown;
	struct proc_maps maps;
	int err;

	if (subject->read_maps(subject->arg, &maps))
		return 0;
	grown = reallocarray(spaces->items, spaces->cnt + 1, sizeof(*grown));
	if (!grown) {
		proc_maps_deinit(&maps);
		return -ENOMEM;
	}
	spaces->items = grown;
	grown[spaces->cnt++] = (struct reference_code_space){subject->pid, generation, maps};
	err = reference__open(spaces->reference, generation);
	for_each_mapping (mapping, &maps)
		if (!err)
			err = send_mapping(spaces, &spaces->items[spaces->cnt - 1], mapping);
	return err;
}

int reference_spaces_add(struct reference_spaces *spaces, const struct reference_subject *subject)
{
	int err = spaces->err;

	if (err || !subject->generation || reference_spaces_find(spaces, subject->generation))
		return err;
	if (!spaces->reference)
		err = reference__new(&spaces->reference);
	if (!err)
		err = add_space(spaces, subject);
	if (err)
		return fail(spaces, err);
	drop_old(spaces, subject->pid, OLD_SPACES);
	return 0;
}

void reference_spaces_forget(struct reference_spaces *spaces, pid_t pid)
{
	drop_old(spaces, pid, 0);
}

int reference_spaces_walk(struct reference_spaces *spaces, const struct reference_code_space *space,
			  const struct unwind_copy *copy, struct reference_stack *ret)
{
	int err = spaces->err;

	if (!err)
		err = reference__walk(spaces->reference, space->generation, copy, ret);
	return err && !spaces->err ? fail(spaces, err) : err;
}
