/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The library's own objects; of interest to its files and its tests only. */
#ifndef SYMBOLIZER_INTERNAL_H
#define SYMBOLIZER_INTERNAL_H

#include "symbolizer/addr_map.h"
#include "symbolizer/fetcher.h"
#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"
#include "symbolizer/parser.h"
#include "symbolizer/perf_map.h"
#include "symbolizer/proc_image.h"
#include "symbolizer/regions.h"
#include "symbolizer/symbolizer.h"

struct symbolizer {
	struct parser parser;
	struct fetcher fetcher;
	struct module **modules; /* by id */
	size_t module_cnt;
	size_t module_cap;
};

/*
 * The module of a file; fd is taken over, or closed when the file is known already. path is how
 * the process sees it. Fails only with -ENOMEM.
 */
int symbolizer__module(struct symbolizer *sym, int fd, const struct stat *st, const char *path,
		       struct module **ret);

/* Takes over the module of a part of the kernel, which has no file of its own. -ENOMEM. */
int symbolizer__add_module(struct symbolizer *sym, struct module *module);

/* What is known of one address of a space. */
struct location {
	struct sym_location pub;
	uint64_t pc; /* the instruction that is looked up */
	bool exact;
	unsigned int generation;         /* of the space when it was looked up */
	struct region *region;           /* NULL: nothing was there, or the space is the kernel's */
	const struct kernel_part *part;  /* NULL: nothing was there, or the space is a process's */
	struct module *module;           /* the file that may tell more; NULL: none */
	struct name *name;               /* there; NULL: not in a file */
	struct sym_frame own;            /* the only frame while there is no name */
	char *own_symbol;                /* from a JIT map or the kernel's list */
	struct sym_frame *kernel_frames; /* from DWARF, with own for the function; NULL: none */
	const struct sym_frame *published; /* the name's frames that kernel_frames is made of */
	int64_t since_ms;                  /* when it was asked for first */
};

struct symspace {
	struct symbolizer *sym;
	struct kernel_image *kernel; /* NULL: the space is that of a process */
	struct proc_image image;
	struct regions regions;
	unsigned int generation; /* counts refreshes */
	struct addr_map locations;
	struct location **all; /* also those that were replaced */
	size_t all_cnt;
	size_t all_cap;
	struct perf_map jit;
};

/* The kernel of other roots than the running one's. */
int symspace__new_kernel_at(struct symbolizer *sym, const struct kernel_roots *roots,
			    struct symspace **ret);

/* Where the location of a query is kept: no address of a process has the highest bit. */
static inline uint64_t location_key(const struct sym_query *query)
{
	return query->file ? 1ULL << 63 | (uint64_t)query->file << 40 | query->addr : query->addr;
}

/* A location for a query that has none, or that is to have another one. -ENOMEM. */
int symspace__add_location(struct symspace *space, const struct sym_query *query,
			   struct location **ret);

int process_space_refresh(struct symspace *space);
/*
 * The location of a query. One that was found earlier is replaced when something else has been
 * mapped there since; who holds the old one keeps it.
 */
int process_space_find(struct symspace *space, const struct sym_query *query,
		       struct location **ret);
/* Names compiled code from the map that its compiler writes, which is read when it has grown. */
int process_space_name_jits(struct symspace *space, struct location **locs, size_t cnt,
			    int64_t deadline_ms);

int kernel_space_refresh(struct symspace *space);
/* The locations of queries. The kernel is read again for addresses that it did not know. */
int kernel_space_find(struct symspace *space, const struct sym_query *queries, size_t cnt,
		      struct location **ret);
/* Copies what the file's DWARF has told. -ENOMEM. */
int kernel_space_publish(struct location *loc);

#endif
