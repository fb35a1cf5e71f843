/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a process by address, as the programs see it, and what each mapping is of. It knows
 * files by numbers alone, and no tables.
 */
#ifndef LOADER_STACKS_MAPPING_LIST_H
#define LOADER_STACKS_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"
#include "bpf/unwind.h"

/* What a mapping is of, besides its address. */
struct mapping_source {
	struct file_id id;
	uint64_t offset;
	ssize_t file; /* negative: none */
};

struct mapping_list {
	struct unwind_mapping *items;
	struct mapping_source *sources; /* of each */
	size_t cnt;
};

/* An empty list with room for so many mappings. -ENOMEM; ret needs deinit in either case. */
int mapping_list_init(struct mapping_list *ret, size_t room);
void mapping_list_deinit(struct mapping_list *list);

/*
 * Adds a mapping behind all others; there must be room. Pieces that touch and have no file become
 * one. The mapping's base is where the file's beginning would be.
 */
void mapping_list_add(struct mapping_list *list, const struct mapping *mapping, ssize_t file);

/*
 * The file of the same mapping in the list; negative: it has none; -ENOENT: the mapping is not
 * there.
 */
ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping);

/* Whether the programs would see no difference. */
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

/* Leaves so many mappings at most. Those without a table go first, from the highest on. */
void mapping_list_limit(struct mapping_list *list, size_t most);

#endif
