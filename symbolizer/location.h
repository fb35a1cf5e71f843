/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locations: the results of looking up addresses in one address space (struct symspace). A location
 * that was returned to the caller stays valid. If something else is mapped at its address later,
 * the address gets another location.
 */
#ifndef SYMBOLIZER_LOCATION_H
#define SYMBOLIZER_LOCATION_H

#include "base/hash_map.h"
#include "symbolizer/frame.h"
#include "symbolizer/kernel_symtab.h"
#include "symbolizer/module.h"
#include "symbolizer/regions.h"

/* The lookup result for one address, with internal data. */
struct location {
	struct sym_location pub;
	enum sym_kind kind;
	uint64_t pc; /* address of the instruction or byte to look up */
	bool exact;
	unsigned int generation; /* locations.generation at the time of the lookup */
	/* region that contains the address; NULL if there is none, and for kernel addresses */
	struct region *region;
	/* for variables: a code region of the variable's file; NULL if there is none */
	struct region *code;
	/* kernel part that contains the address; NULL if unknown, and for addresses of processes */
	const struct kernel_part *part;
	struct module *module; /* file in which the address is looked up; NULL if there is none */
	struct name *name;     /* NULL if there is no file */
	struct sym_frame own;  /* the location's only frame until `name` has frames */
	char *own_symbol;      /* function name from a JIT map or kallsyms; NULL if none */
	/*
	 * kernel only: copy of the frames found in DWARF, except that the outermost function has
	 * the name and offset of `own`; NULL if there are none
	 */
	struct sym_frame *kernel_frames;
	/* value of name->frames when kernel_frames was made from it */
	const struct sym_frame *published;
	uint64_t since_ns; /* time of the first query */
};

struct locations {
	/*
	 * hash maps from addresses to their newest locations. newest[0] is for return addresses,
	 * newest[1] for addresses of instructions, newest[1 + kind] for SYM_DATA and SYM_TLS.
	 */
	struct hash_map newest[1 + SYM_KIND_CNT];
	struct location **all; /* including replaced ones */
	size_t cnt;
	size_t cap;
	unsigned int generation; /* number of times the mappings or kernel symbols were read */
};

/* Returns the newest location for a query; NULL if there is none yet. */
struct location *locations_get(const struct locations *locations, const struct sym_query *query);

/*
 * Adds a new location for a query. An older location stays valid, but locations_get() no longer
 * returns it. Fails with -ENOMEM.
 */
int locations_add(struct locations *locations, const struct sym_query *query,
		  struct location **ret);

void locations_deinit(struct locations *locations);

#endif
