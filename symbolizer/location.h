/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The addresses of a space that were asked for, with what is known of each. A location that was
 * given out stays; when something else has come to its address, another one takes its place.
 */
#ifndef SYMBOLIZER_LOCATION_H
#define SYMBOLIZER_LOCATION_H

#include "base/hash_map.h"
#include "symbolizer/frame.h"
#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"
#include "symbolizer/regions.h"

/* What is known of one address of a space. */
struct location {
	struct sym_location pub;
	enum sym_kind kind;
	uint64_t pc; /* the instruction or byte that is looked up */
	bool exact;
	unsigned int generation;         /* of the space when it was looked up */
	struct region *region;           /* NULL: nothing was there, or the space is the kernel's */
	struct region *code;             /* of data: of the same file; NULL: none */
	const struct kernel_part *part;  /* NULL: nothing was there, or the space is a process's */
	struct module *module;           /* the file that may tell more; NULL: none */
	struct name *name;               /* there; NULL: not in a file */
	struct sym_frame own;            /* the only frame while there is no name */
	char *own_symbol;                /* from a JIT map or the kernel's list */
	struct sym_frame *kernel_frames; /* from DWARF, with own for the function; NULL: none */
	const struct sym_frame *published; /* the name's frames that kernel_frames is made of */
	uint64_t since_ns;                 /* when it was asked for first */
};

struct locations {
	/* Of code: [exact], by address or place in a file; the others: [1 + kind]. */
	struct hash_map newest[1 + SYM_KIND_CNT];
	struct location **all; /* also those that were replaced */
	size_t cnt;
	size_t cap;
	unsigned int generation; /* counts how often the space was read */
};

/* NULL: it was not asked for yet. */
struct location *locations_get(const struct locations *locations, const struct sym_query *query);

/* A location for a query that has none, or that is to have another one. -ENOMEM. */
int locations_add(struct locations *locations, const struct sym_query *query,
		  struct location **ret);

void locations_deinit(struct locations *locations);

#endif
