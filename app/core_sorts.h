/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks that were in use in the heap of a core, by what they seem to be: objects of a C++
 * class by the table of functions that they begin with, others that begin with the address of a
 * constant that has a name, and the rest by how many bytes were asked for. Nobody knows who asked
 * for them.
 */
#ifndef APP_CORE_SORTS_H
#define APP_CORE_SORTS_H

#include "base/arena.h"
#include "base/hash_map.h"
#include "proof/core_file.h"
#include "report/snapshot.h"
#include "symbolizer/symbolizer.h"

struct core_sort {
	uint64_t word; /* that blocks begin with; 0: they are of one size */
	uint64_t size; /* the largest that they have; 0: they are of any */
	struct block largest;
	uint64_t bytes;
	uint64_t count;
	struct sym_location location; /* its name, in the form of a frame */
	struct sym_frame frame;
};

struct core_sorts {
	struct core_sort *items;
	size_t cnt;
	size_t cap;
	struct hash_map by_word; /* 1 + index, by the word that blocks begin with */
	struct hash_map by_size; /* the same, by what tells sizes from each other */
	struct heap heap;        /* the blocks; site is an index into items */
	struct reach_sum used;
	struct reach_sum free_;
	uint64_t own_bytes;
	struct heap_census census;
	struct arena names;
};

/* Reads the heap. 0 or a negative errno. */
int core_sorts_init(const struct core_file *core, struct core_sorts *ret);
void core_sorts_deinit(struct core_sorts *sorts);

/* Names them by the files that the process had mapped; what has no name becomes one of a size. */
int core_sorts_name(struct core_sorts *sorts, struct symspace *space, uint64_t deadline_ns);

/* Sites of a snapshot, in the order of the sorts, as a process has them. 0 or -ENOMEM. */
int core_sorts_sites(const struct core_sorts *sorts, const struct process *process,
		     struct snapshot *snap);

/* The sort that a site's only frame stands for; NULL: none. */
const struct core_sort *core_sorts_of(const struct core_sorts *sorts, uint64_t frame);

#endif
