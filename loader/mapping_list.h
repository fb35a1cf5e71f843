/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of a process by address, as the programs see it, with what each mapping is of. It knows
 * files by numbers alone, and tables not at all.
 */
#ifndef MAPPING_LIST_H
#define MAPPING_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/unwind.h"
#include "symbolizer/proc_maps.h"

/* What a mapping is of, besides its address. */
struct mapping_source {
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t inode;
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
 * Behind all others; there must be room. What has no file may be in any number of pieces, which
 * are one as long as they touch. The mapping's base is the file's beginning.
 */
void mapping_list_add(struct mapping_list *list, const struct mapping *mapping, ssize_t file);

/* The file of the same mapping in the list; -ENOENT: it is not there. Negative: it has none. */
ssize_t mapping_list_file(const struct mapping_list *list, const struct mapping *mapping);

/* Whether the programs would see no difference. */
bool mapping_list_equal(const struct mapping_list *a, const struct mapping_list *b);

/* Leaves so many at most. Those without a table go first, from the highest on. */
void mapping_list_limit(struct mapping_list *list, size_t most);

#endif
