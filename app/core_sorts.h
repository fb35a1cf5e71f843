/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sorts the used blocks of a core's heap by what they seem to be: objects of a C++ class (by their
 * vtable), blocks that begin with the address of a named constant, and all others by requested
 * size. A core does not record who allocated a block.
 */
#ifndef APP_CORE_SORTS_H
#define APP_CORE_SORTS_H

#include "base/arena.h"
#include "base/hash_map.h"
#include "proof/core_file.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct core_sort {
	uint64_t word; /* first word of the blocks; 0 if sorted by size */
	uint64_t size; /* maximum size of the blocks; 0 if sorted by first word */
	struct block largest;
	uint64_t bytes;
	uint64_t count;
	struct sym_location location; /* the sort's name in the form of a frame */
	struct sym_frame frame;
};

struct core_sorts {
	struct core_sort *items;
	size_t cnt;
	size_t cap;
	struct hash_map by_word; /* 1 + index, by first word */
	struct hash_map by_size; /* 1 + index, by size class */
	struct heap heap;        /* the blocks; their site is an index into items */
	struct reach_sum used;
	struct reach_sum free_;
	uint64_t own_bytes;
	struct heap_census census;
	struct arena names;
};

/* Reads the heap. Returns 0 or a negative errno. */
int core_sorts_init(const struct core_file *core, struct core_sorts *ret);
void core_sorts_deinit(struct core_sorts *sorts);

/*
 * Names the sorts by symbols of the mapped files. Blocks of sorts without a name are sorted by size
 * instead.
 */
int core_sorts_name(struct core_sorts *sorts, struct symspace *space, uint64_t deadline_ns);

/* Adds a site for each sort to a snapshot, in the order of the sorts. Returns 0 or -ENOMEM. */
int core_sorts_sites(const struct core_sorts *sorts, const struct process *process,
		     struct snapshot *snap);

/* Returns the sort that the only frame of a site stands for, or NULL. */
const struct core_sort *core_sorts_of(const struct core_sorts *sorts, uint64_t frame);

#endif
