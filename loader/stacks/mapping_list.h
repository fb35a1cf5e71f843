/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code mappings of a process as the BPF programs see them, sorted by address, and the file of
 * each mapping. Knows files only by their index in struct unwind_files; the caller adds the unwind
 * tables.
 */
#ifndef LOADER_STACKS_MAPPING_LIST_H
#define LOADER_STACKS_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"
#include "bpf/unwind.h"

/* The file of a mapping, and the offset in the file at which the mapping begins. */
struct mapping_source {
	struct file_id id;
	uint64_t offset;
	ssize_t file; /* index of the file; negative if none */
};

struct mapping_list {
	struct unwind_mapping *items;
	struct mapping_source *sources; /* sources[i] belongs to items[i] */
	size_t cnt;
};

/*
 * Initialises an empty list. room: maximum number of mappings. Returns 0 or -ENOMEM; call
 * mapping_list_deinit() either way.
 */
int mapping_list_init(struct mapping_list *ret, size_t room);
void mapping_list_deinit(struct mapping_list *list);

/*
 * Appends a mapping; the list must have room. Adjacent mappings without a file are merged. The base
 * of an item is the address at which offset 0 of its file would be mapped.
 */
void mapping_list_add(struct mapping_list *list, const struct mapping *mapping, ssize_t file);

/*
 * Returns the index of a mapping's file; a negative number if the mapping has no file or is not in
 * the list.
 */
ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping);

/* True if the BPF programs would see no difference between the lists: compares only `items`. */
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

/*
 * Shortens the list to at most `most` mappings. Drops mappings without an unwind table first, from
 * the highest address down.
 */
void mapping_list_limit(struct mapping_list *list, size_t most);

#endif
