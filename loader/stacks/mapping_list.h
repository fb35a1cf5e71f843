/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code mappings of a process by address, as the programs see them, and the file of each. Knows
 * files only by index, and no tables.
 */
#ifndef LOADER_STACKS_MAPPING_LIST_H
#define LOADER_STACKS_MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/proc_maps.h"
#include "bpf/unwind.h"

/* The file behind a mapping. */
struct mapping_source {
	struct file_id id;
	uint64_t offset;
	ssize_t file; /* index of the file; negative if there is none */
};

struct mapping_list {
	struct unwind_mapping *items;
	struct mapping_source *sources; /* one for each item */
	size_t cnt;
};

/*
 * Initialises an empty list with room for room mappings. Returns 0 or -ENOMEM; deinit it in both
 * cases.
 */
int mapping_list_init(struct mapping_list *ret, size_t room);
void mapping_list_deinit(struct mapping_list *list);

/*
 * Appends a mapping; there must be room. Adjacent mappings without a file are merged. The base is
 * the address at which offset 0 of the file would be.
 */
void mapping_list_add(struct mapping_list *list, const struct mapping *mapping, ssize_t file);

/*
 * Returns the file of an identical mapping in the list; negative if it has none, -ENOENT if the
 * mapping is not listed.
 */
ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping);

/* True if the programs would see no difference between the lists. */
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

/*
 * Reduces the list to at most most mappings. Mappings without a table are dropped first, from the
 * highest address down.
 */
void mapping_list_limit(struct mapping_list *list, size_t most);

#endif
