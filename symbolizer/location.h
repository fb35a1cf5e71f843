/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses looked up in a space, with what is known of each. A location that was returned to the
 * caller stays valid; if something else is mapped at its address later, a new location replaces it.
 */
#ifndef SYMBOLIZER_LOCATION_H
#define SYMBOLIZER_LOCATION_H

#include "base/hash_map.h"
#include "symbolizer/frame.h"
#include "symbolizer/kernel_image.h"
#include "symbolizer/module.h"
#include "symbolizer/regions.h"

/* The lookup result for one address of a space. */
struct location {
	struct sym_location pub;
	enum sym_kind kind;
	uint64_t pc; /* address of the instruction or byte that is looked up */
	bool exact;
	unsigned int generation; /* generation of the space at the time of the lookup */
	/* region at the address; NULL if there was none, or for the kernel's space */
	struct region *region;
	struct region *code; /* for data: a code region of its file; NULL if there is none */
	/* kernel part at the address; NULL if there was none, or for a process's space */
	const struct kernel_part *part;
	struct module *module; /* the file to search for names; NULL if there is none */
	struct name *name;     /* the name in that file; NULL if there is no file */
	struct sym_frame own;  /* the only frame until a name is found */
	char *own_symbol;      /* symbol from a JIT map or from kallsyms */
	/* frames from DWARF plus the function in own; NULL if there are none */
	struct sym_frame *kernel_frames;
	const struct sym_frame *published; /* the name's frames that kernel_frames was built from */
	uint64_t since_ns;                 /* time of the first query */
};

struct locations {
	/* newest locations: of code at [exact], of data and TLS at [1 + kind] */
	struct hash_map newest[1 + SYM_KIND_CNT];
	struct location **all; /* all locations, including replaced ones */
	size_t cnt;
	size_t cap;
	unsigned int generation; /* number of times the space was read */
};

/* Returns the newest location for a query; NULL if there is none yet. */
struct location *locations_get(const struct locations *locations, const struct sym_query *query);

/* Adds a location for a query, replacing the newest one if there is one. Fails with -ENOMEM. */
int locations_add(struct locations *locations, const struct sym_query *query,
		  struct location **ret);

void locations_deinit(struct locations *locations);

#endif
