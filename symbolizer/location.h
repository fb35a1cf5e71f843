/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses that were looked up in a space, with the results. A location that was returned to the
 * caller stays valid; if something else is mapped at the address later, the address gets a new
 * location.
 */
#ifndef SYMBOLIZER_LOCATION_H
#define SYMBOLIZER_LOCATION_H

#include "base/hash_map.h"
#include "symbolizer/frame.h"
#include "symbolizer/kernel_symtab.h"
#include "symbolizer/module.h"
#include "symbolizer/regions.h"

/* The lookup result for one address of a space. */
struct location {
	struct sym_location pub;
	enum sym_kind kind;
	uint64_t pc; /* address of the instruction or byte to look up */
	bool exact;
	unsigned int generation; /* generation of the space at the time of the lookup */
	/* region that contains the address; NULL if there was none, or in the kernel's space */
	struct region *region;
	/* for data: a code region of the variable's file; NULL if there is none */
	struct region *code;
	/* kernel part that contains the address; NULL if there was none, or in a process's space */
	const struct kernel_part *part;
	struct module *module; /* file in which the name is searched; NULL if there is none */
	struct name *name;     /* entry of `module` for the address; NULL if there is no file */
	struct sym_frame own;  /* the only frame as long as no name is found */
	char *own_symbol;      /* name of the function, from a JIT map or from kallsyms */
	/*
	 * kernel only: frames from DWARF, but the outermost function's name and offset are those of
	 * `own`; NULL if there are none
	 */
	struct sym_frame *kernel_frames;
	/* value of name->frames from which kernel_frames was built */
	const struct sym_frame *published;
	uint64_t since_ns; /* time of the first query */
};

struct locations {
	/*
	 * maps from addresses to their newest locations: newest[`exact`] for code, newest[1 + kind]
	 * for data and TLS
	 */
	struct hash_map newest[1 + SYM_KIND_CNT];
	struct location **all; /* all locations, including those that were replaced */
	size_t cnt;
	size_t cap;
	unsigned int generation; /* number of times the mappings or kernel symbols were read */
};

/* Returns the newest location for a query; NULL if there is none yet. */
struct location *locations_get(const struct locations *locations, const struct sym_query *query);

/* Adds a location for a query, replacing the newest one if there is one. Fails with -ENOMEM. */
int locations_add(struct locations *locations, const struct sym_query *query,
		  struct location **ret);

void locations_deinit(struct locations *locations);

#endif
