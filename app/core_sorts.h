/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides the used blocks of a core's heap into types (struct core_sort). They take the place of
 * stacks, because a core file does not record who allocated a block. A type has the objects of a
 * C++ class (found by the vtable), the blocks that begin with the address of a named variable, or
 * all other blocks of a size class.
 */
#ifndef APP_CORE_SORTS_H
#define APP_CORE_SORTS_H

#include "base/arena.h"
#include "base/hash_map.h"
#include "proof/core_file.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct core_sort {
	uint64_t word; /* first word of all blocks of the type; 0 if the type is a size class */
	uint64_t size; /* largest size in the size class; 0 if the type is defined by `word` */
	struct block largest;
	uint64_t bytes;
	uint64_t count;
	/* location of the single frame `frame`, whose symbol is the name of the type */
	struct sym_location location;
	struct sym_frame frame;
};

struct core_sorts {
	struct core_sort *items;
	size_t cnt;
	size_t cap;
	struct hash_map by_word; /* maps a first word to 1 + the index of its type in `items` */
	struct hash_map by_size; /* maps a size class to 1 + the index of its type in `items` */
	/* the used blocks; the field `site` of a block is the index of its type in `items` */
	struct heap heap;
	struct reach_sum used;
	struct reach_sum free_;
	uint64_t own_bytes;
	struct heap_census census;
	struct arena names;
};

/* Reads the heap, and groups its used blocks. Returns 0 or a negative errno. */
int core_sorts_init(const struct core_file *core, struct core_sorts *ret);
void core_sorts_deinit(struct core_sorts *sorts);

/*
 * Names each type by the symbol to which the first word of its blocks points. If there is no
 * suitable symbol, moves the blocks to types by size. Removes types that have no blocks then.
 * Returns 0 or a negative errno.
 */
int core_sorts_name(struct core_sorts *sorts, struct symspace *space, uint64_t deadline_ns);

/* Adds one site for each type to a snapshot, in the order of the types. Returns 0 or -ENOMEM. */
int core_sorts_sites(const struct core_sorts *sorts, const struct process *process,
		     struct snapshot *snap);

/*
 * Returns the type that a site of core_sorts_sites() stands for; NULL if there is none. `frame` is
 * the site's only frame.
 */
const struct core_sort *core_sorts_of(const struct core_sorts *sorts, uint64_t frame);

#endif
